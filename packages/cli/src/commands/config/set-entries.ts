import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isFields, type KubeconfigFields, type KubeconfigList } from '@coracle/client'
import { CliError } from '../../cli-error.ts'
import type { ConnectionFlags } from '../../connection.ts'
import type { Host } from '../../host.ts'
import { editKubeconfigs, readKubeconfigs } from '../../kubeconfig/edit-kubeconfig.ts'
import { kubeconfigFiles } from '../../kubeconfig/kubeconfig-files.ts'

export interface SetContextFlags extends ConnectionFlags {
  readonly current?: boolean
}

/** `coracle config set-context NAME|--current` */
export async function setContext(host: Host, name: string | undefined, flags: SetContextFlags): Promise<void> {
  if (name !== undefined && flags.current === true)
    throw new CliError('you cannot specify both a context name and --current')
  if (name === undefined && flags.current !== true) {
    throw new CliError('you must specify a non-empty context name or --current')
  }
  const files = await kubeconfigFiles(host, flags.kubeconfig)
  const context = name ?? (await readKubeconfigs(files)).currentContext
  if (context === undefined) throw new CliError('no current context is set')
  const { cluster, user, namespace } = flags
  const isNew = await setFields(host, 'contexts', context, flags, (fields) =>
    withSet(fields, { cluster, user, namespace }),
  )
  host.stdout.write(`Context ${JSON.stringify(context)} ${isNew ? 'created' : 'modified'}.\n`)
}

export interface SetClusterFlags extends ConnectionFlags {
  readonly embedCerts?: boolean
  readonly proxyUrl?: string
}

/** `coracle config set-cluster NAME` */
export async function setCluster(host: Host, name: string, flags: SetClusterFlags): Promise<void> {
  const { server, tlsServerName, insecureSkipTlsVerify: insecure, certificateAuthority, proxyUrl } = flags
  if (certificateAuthority !== undefined && certificateAuthority !== '' && insecure === true) {
    throw new CliError('you cannot specify a certificate authority and insecure mode at the same time')
  }
  if (flags.embedCerts === true && !certificateAuthority) {
    throw new CliError('you must specify a --certificate-authority to embed')
  }
  const authority = await certificateFile(host, 'certificate-authority', certificateAuthority, flags.embedCerts)
  await setFields(host, 'clusters', name, flags, (fields) => ({
    ...withSet(fields, {
      server,
      'tls-server-name': tlsServerName,
      'proxy-url': proxyUrl,
      ...(insecure === undefined ? {} : { 'insecure-skip-tls-verify': insecure }),
      // Of the two one is for nothing.
      ...(insecure === true ? { 'certificate-authority': '', 'certificate-authority-data': '' } : {}),
      ...authority,
      ...(Object.keys(authority).length === 0 ? {} : { 'insecure-skip-tls-verify': false }),
    }),
  }))
  host.stdout.write(`Cluster ${JSON.stringify(name)} set.\n`)
}

export interface SetCredentialsFlags extends ConnectionFlags {
  readonly embedCerts?: boolean
  readonly authProvider?: string
  readonly authProviderArg: readonly string[]
  readonly execCommand?: string
  readonly execApiVersion?: string
  readonly execArg: readonly string[]
  readonly execEnv: readonly string[]
  readonly execInteractiveMode?: string
  readonly execProvideClusterInfo?: boolean
}

/** Whether a credential plugin may ask. */
const interactiveModes: readonly string[] = ['IfAvailable', 'Never', 'Always']

/** `coracle config set-credentials NAME` */
export async function setCredentials(host: Host, name: string, given: SetCredentialsFlags): Promise<void> {
  // As with kubectl, one empty text alone is none.
  const execEnv = given.execEnv.length === 1 && given.execEnv[0] === '' ? [] : given.execEnv
  const flags = { ...given, execEnv }
  const { token, username, password, execInteractiveMode } = flags
  checkPairs('auth-provider-arg', flags.authProviderArg)
  checkPairs('exec-env', execEnv)
  if (execInteractiveMode !== undefined && !interactiveModes.includes(execInteractiveMode)) {
    throw new CliError('invalid interactive mode type, can be only IfAvailable, Never, Always')
  }
  const methods = [...(token ? ['--token'] : []), ...(username || password ? ['--username/--password'] : [])]
  if (methods.length > 1) {
    throw new CliError(`you cannot specify more than one authentication method at the same time: ${methods.join(', ')}`)
  }
  if (flags.embedCerts === true && !flags.clientCertificate && !flags.clientKey) {
    throw new CliError('you must specify a --client-certificate or --client-key to embed')
  }
  const certificate = await certificateFile(host, 'client-certificate', flags.clientCertificate, flags.embedCerts)
  const key = await certificateFile(host, 'client-key', flags.clientKey, flags.embedCerts)
  await setFields(host, 'users', name, flags, (fields) => {
    const set = withSet(fields, {
      ...certificate,
      ...key,
      ...(token === undefined ? {} : { token, tokenFile: '', username: '', password: '' }),
      ...(methods.includes('--username/--password')
        ? {
            token: '',
            tokenFile: '',
            ...(username === undefined ? {} : { username }),
            ...(password === undefined ? {} : { password }),
          }
        : {}),
    })
    return withProvider(withExec(set, flags), flags)
  })
  host.stdout.write(`User ${JSON.stringify(name)} set.\n`)
}

/** Throws a CliError that names the texts that are neither `NAME=VALUE` nor `NAME-`. */
function checkPairs(flag: string, texts: readonly string[]): void {
  const invalid = texts.filter((text) => text.indexOf('=') <= 0 && (text === '-' || !text.endsWith('-')))
  if (invalid.length > 0) throw new CliError(`invalid ${flag} format: ${invalid.join(', ')}`)
}

/** The credential plugin as flags say; `NAME=VALUE` sets a variable and `NAME-` takes it away. */
function withExec(fields: KubeconfigFields, flags: SetCredentialsFlags): KubeconfigFields {
  const { execCommand, execApiVersion, execArg, execEnv, execInteractiveMode, execProvideClusterInfo } = flags
  const before = isFields(fields.exec) ? fields.exec : undefined
  if (before === undefined && execCommand === undefined) return fields
  const variables = new Map(
    (Array.isArray(before?.env) ? before.env : []).filter(isFields).map(({ name, value }) => [String(name), value]),
  )
  for (const pair of execEnv) {
    const at = pair.indexOf('=')
    if (at > 0) variables.set(pair.slice(0, at), pair.slice(at + 1))
    else variables.delete(pair.slice(0, -1))
  }
  const { apiVersion: version, ...others } = before ?? {}
  const apiVersion = execApiVersion ?? version
  const exec = {
    ...others,
    ...(execCommand === undefined ? {} : { command: execCommand }),
    ...(apiVersion === undefined || apiVersion === '' ? {} : { apiVersion }),
    ...(execArg.length === 0 ? {} : { args: execArg }),
    ...(execInteractiveMode === undefined ? {} : { interactiveMode: execInteractiveMode }),
    ...(execProvideClusterInfo === undefined ? {} : { provideClusterInfo: execProvideClusterInfo }),
    ...(execEnv.length === 0 ? {} : { env: [...variables].map(([name, value]) => ({ name, value })) }),
  }
  return { ...fields, exec }
}

function withProvider(fields: KubeconfigFields, flags: SetCredentialsFlags): KubeconfigFields {
  const { authProvider, authProviderArg } = flags
  const before = isFields(fields['auth-provider']) ? fields['auth-provider'] : undefined
  if (authProvider === undefined && (before === undefined || authProviderArg.length === 0)) return fields
  const config = { ...(isFields(before?.config) ? before.config : {}) } as Record<string, unknown>
  for (const pair of authProviderArg) {
    const at = pair.indexOf('=')
    if (at > 0) config[pair.slice(0, at)] = pair.slice(at + 1)
    else delete config[pair.slice(0, -1)]
  }
  return { ...fields, 'auth-provider': { config, name: authProvider ?? before?.name } }
}

/** What a file of PEM is written as: its path, or its content where it is to be embedded. */
async function certificateFile(
  host: Host,
  field: string,
  path: string | undefined,
  embed = false,
): Promise<KubeconfigFields> {
  if (path === undefined) return {}
  if (path === '' && embed) return { [field]: '', [`${field}-data`]: '' }
  // As with kubectl, an empty path is that of the directory.
  const whole = resolve(host.workingDirectory, path)
  if (!embed) return { [field]: whole, [`${field}-data`]: '' }
  await stat(whole).catch(() => {
    throw new CliError(`could not stat ${field} file ${path}: stat ${path}: no such file or directory`)
  })
  return { [field]: '', [`${field}-data`]: (await readFile(whole)).toString('base64') }
}

/** Changes the fields of an entry, which may be new: whether it was comes back. */
async function setFields(
  host: Host,
  list: KubeconfigList,
  name: string,
  { kubeconfig }: ConnectionFlags,
  change: (fields: KubeconfigFields) => KubeconfigFields,
): Promise<boolean> {
  let isNew = false
  await editKubeconfigs(await kubeconfigFiles(host, kubeconfig), (document) => {
    const entry = document[list].get(name)
    isNew = entry === undefined
    const fields = change(entry?.fields ?? {})
    return { ...document, [list]: new Map([...document[list], [name, { ...entry, fields }]]) }
  })
  return isNew
}

/** What is set to a value has it, what is set to nothing goes, and what is not set stays. */
function withSet(fields: KubeconfigFields, set: KubeconfigFields): KubeconfigFields {
  const changed = Object.entries(set).filter(([, value]) => value !== undefined)
  const merged = { ...fields, ...Object.fromEntries(changed) }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== '' && value !== false))
}
