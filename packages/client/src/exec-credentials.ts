import { once } from 'node:events'
import { dirname, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { parseTime } from '@coracle/api'
import type { Clock, Time } from '@coracle/environment'
import { isFields, type KubeconfigFields, textOf } from './kubeconfig-document.ts'

/** What a credential plugin gives: a token, a certificate with its key, or both. */
export interface ExecCredential {
  readonly token: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  /** When the token is to be asked for anew; undefined: it has no end. */
  readonly expiresAtMs: Time | undefined
}

/** A program that a kubeconfig's user has in place of credentials (client.authentication.k8s.io). */
export interface ExecPlugin {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly apiVersion: string
  readonly installHint: string | undefined
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always'
  /** Standard input holds what the command reads, so that the plugin cannot ask there. */
  readonly isInputTaken: boolean
  /** What it is told of the cluster, where it wants to be told. */
  readonly cluster: KubeconfigFields | undefined
}

/** More than this is no credential. */
const outputBytesMax = 1024 * 1024

const apiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/**
 * The plugin that an `exec` stanza describes. A relative command with a slash starts where the kubeconfig stands. Throws an
 * Error that names what is missing or not supported.
 */
export function execPluginOf(
  exec: KubeconfigFields,
  user: string,
  cluster: KubeconfigFields,
  { kubeconfigPath, isInputTaken }: { readonly kubeconfigPath: string; readonly isInputTaken: boolean },
): ExecPlugin {
  const problems = problemsOf(exec, user)
  if (problems.length > 0) throw new Error(problems.join('; '))
  const { command, apiVersion } = {
    command: textOf(exec, 'command') ?? '',
    apiVersion: textOf(exec, 'apiVersion') ?? '',
  }
  const interactiveMode = modeOf(exec)
  if (!isMode(interactiveMode))
    throw new Error(`invalid interactiveMode for ${user}: ${JSON.stringify(interactiveMode)}`)
  if (!apiVersions.includes(apiVersion)) {
    throw new Error(`exec plugin: invalid apiVersion ${JSON.stringify(apiVersion)}: use ${apiVersions.join(' or ')}`)
  }
  return {
    command: /[\\/]/.test(command) ? resolve(dirname(kubeconfigPath), command) : command,
    args: Array.isArray(exec.args) ? exec.args.map(String) : [],
    env: Object.fromEntries(
      (Array.isArray(exec.env) ? exec.env : [])
        .filter(isFields)
        .map(({ name, value }) => [String(name), String(value ?? '')]),
    ),
    apiVersion,
    installHint: textOf(exec, 'installHint'),
    interactiveMode,
    isInputTaken,
    cluster: exec.provideClusterInfo === true ? clusterInfo(cluster) : undefined,
  }
}

/** What an `exec` stanza lacks, in the words of client-go. */
function problemsOf(exec: KubeconfigFields, user: string): readonly string[] {
  const lacks = (what: string) => `${what} must be specified for ${user} to use exec authentication plugin`
  const variables = Array.isArray(exec.env) ? exec.env.filter(isFields) : []
  return [
    ...['command', 'apiVersion'].filter((name) => textOf(exec, name) === undefined).map(lacks),
    ...variables.filter((variable) => textOf(variable, 'name') === undefined).map(() => lacks('env variable name')),
    ...(modeOf(exec) === undefined ? [lacks('interactiveMode')] : []),
  ]
}

/** Since v1 it has to be said. */
const modeOf = (exec: KubeconfigFields): string | undefined =>
  textOf(exec, 'interactiveMode') ?? (textOf(exec, 'apiVersion')?.endsWith('/v1beta1') ? 'IfAvailable' : undefined)

const isMode = (mode: string | undefined): mode is ExecPlugin['interactiveMode'] =>
  mode === 'Never' || mode === 'IfAvailable' || mode === 'Always'

/** What a plugin gives, for as long as that is good. */
export interface ExecCredentials {
  present(): Promise<ExecCredential>
  /** The server has not taken a token. */
  readonly refuse: (token: string) => void
}

/** Gives the plugin's credential, and runs it again when that has ended, or the server does not take its token. */
export function execCredentials(plugin: ExecPlugin, clock: Clock): ExecCredentials {
  let running: Promise<ExecCredential> | undefined
  let refused: Promise<ExecCredential> | undefined
  const isGood = ({ expiresAtMs }: ExecCredential): boolean => expiresAtMs === undefined || clock.now() < expiresAtMs
  return {
    async present() {
      const kept = running
      const credential = await kept?.catch(() => undefined)
      if (credential !== undefined && kept !== refused && isGood(credential)) return credential
      // Of several that wait, one runs it.
      if (running === kept) running = runPlugin(plugin)
      return running ?? runPlugin(plugin)
    },
    refuse(token) {
      const given = running
      const note = (credential: ExecCredential): void => {
        if (credential.token === token) refused = given
      }
      given?.then(note, () => {})
    },
  }
}

async function runPlugin(plugin: ExecPlugin): Promise<ExecCredential> {
  const { apiVersion, cluster } = plugin
  const interactive = isInteractive(plugin)
  const info = {
    kind: 'ExecCredential',
    apiVersion,
    spec: { ...(cluster === undefined ? {} : { cluster }), interactive },
  }
  const output = await outputOf(plugin, interactive, JSON.stringify(info))
  return parseCredential(output, plugin)
}

/** Whether the plugin may ask the person at the terminal. */
function isInteractive({ interactiveMode, isInputTaken }: ExecPlugin): boolean {
  if (interactiveMode === 'Never') return false
  const isPossible = !isInputTaken && process.stdin.isTTY === true
  if (interactiveMode === 'Always' && !isPossible) {
    const why = isInputTaken
      ? 'standard input is unavailable: used by stdin resource manifest reader'
      : 'standard input is not a terminal'
    throw new Error(`getting credentials: exec plugin cannot support interactive mode: ${why}`)
  }
  return isPossible
}

async function outputOf(plugin: ExecPlugin, interactive: boolean, info: string): Promise<string> {
  const { command, args, env, installHint } = plugin
  const { spawn } = await import('node:child_process')
  const child = spawn(command, args, {
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: info },
  })
  const end = once(child, 'close').catch((cause: NodeJS.ErrnoException) => {
    const problem = cause.code === 'ENOENT' ? 'not found' : `failed: ${cause.message}`
    const hint = installHint === undefined ? '' : `\n\n${installHint.trim()}`
    throw new Error(`getting credentials: exec: executable ${command} ${problem}${hint}`, { cause })
  })
  const [[code], output] = await Promise.all([end as Promise<[number | null]>, readBounded(child.stdout)])
  if (output.length > outputBytesMax) {
    throw new Error(`getting credentials: exec: executable ${command} printed more than ${outputBytesMax} bytes`)
  }
  if (code !== 0) throw new Error(`getting credentials: exec: executable ${command} failed with exit code ${code}`)
  return output
}

/** The text of a stream, or a little more than the limit of it: to leave the loop closes the pipe, which ends whoever writes on. */
async function readBounded(stream: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    text += chunk
    if (text.length > outputBytesMax) break
  }
  return text
}

function parseCredential(output: string, { command, apiVersion }: ExecPlugin): ExecCredential {
  const refuse = (problem: string) => new Error(`getting credentials: exec plugin ${command} ${problem}`)
  let credential: unknown
  try {
    credential = JSON.parse(output)
  } catch (error) {
    // The second half is client-go's, which people search for.
    const why = error instanceof Error ? error.message : String(error)
    throw refuse(`printed no JSON: couldn't get version/kind; json parse error: ${why}`)
  }
  // As for client-go, its kind goes without saying.
  if (!isFields(credential) || (credential.kind ?? 'ExecCredential') !== 'ExecCredential') {
    throw refuse('printed no ExecCredential')
  }
  if (credential.apiVersion !== apiVersion) {
    throw refuse(`is configured to use API version ${apiVersion}, and returned version ${credential.apiVersion}`)
  }
  if (!isFields(credential.status)) throw refuse("didn't return a status field")
  const { status } = credential
  const [token, cert, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((name) => textOf(status, name))
  if ((cert === undefined) !== (key === undefined)) throw refuse('returned only certificate or key, not both')
  if (token === undefined && cert === undefined) throw refuse("didn't return a token or cert/key pair")
  return { token, cert, key, expiresAtMs: expirationOf(status, refuse) }
}

function expirationOf(status: KubeconfigFields, refuse: (problem: string) => Error): Time | undefined {
  const text = textOf(status, 'expirationTimestamp')
  if (text === undefined) return undefined
  const time = parseTime(text)
  if (Number.isNaN(time)) throw refuse(`returned an expirationTimestamp that is no time: ${JSON.stringify(text)}`)
  return time
}

/** What KEP-541 tells a plugin of the cluster. */
function clusterInfo(cluster: KubeconfigFields): KubeconfigFields {
  const names = ['server', 'tls-server-name', 'insecure-skip-tls-verify', 'certificate-authority-data', 'proxy-url']
  const extensions = Array.isArray(cluster.extensions) ? cluster.extensions.filter(isFields) : []
  const config = extensions.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension
  return {
    ...Object.fromEntries(names.filter((name) => cluster[name] !== undefined).map((name) => [name, cluster[name]])),
    ...(config === undefined ? {} : { config }),
  }
}
