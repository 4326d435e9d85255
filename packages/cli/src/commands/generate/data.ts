import { isUtf8 } from 'node:buffer'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { KubernetesObject } from '@coracle/api'
import { goQuoted } from '@coracle/api/go-text'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'

/** Where the keys of a ConfigMap or Secret come from. */
export interface DataFlags {
  readonly fromLiteral: readonly string[]
  /** `FILE`, `KEY=FILE`, or a directory: each of its files. */
  readonly fromFile: readonly string[]
  /** Files of `KEY=VALUE` lines. */
  readonly fromEnvFile: readonly string[]
}

/** Files larger than this fit no object. */
const fileBytesMax = 4 * 1024 * 1024

/**
 * The keys and values that the flags mean. Rejects with a CliError where one cannot be read or stands there twice, `where` after it. No time
 * passes meanwhile for a change that is only played.
 */
export const readData = (host: Host, flags: DataFlags, where = ''): Promise<ReadonlyMap<string, Uint8Array>> =>
  host.environment.clock.hold(readFlags(host, flags, where))

async function readFlags(host: Host, flags: DataFlags, where: string): Promise<ReadonlyMap<string, Uint8Array>> {
  if (flags.fromEnvFile.length > 0 && flags.fromFile.length + flags.fromLiteral.length > 0) {
    throw new CliError('from-env-file cannot be combined with from-file or from-literal')
  }
  const data = new Map<string, Uint8Array>()
  const add = (key: string, value: Uint8Array): void => addKey(data, key, value, where)
  for (const text of flags.fromLiteral) {
    const at = text.indexOf('=')
    if (at <= 0) throw new CliError(`invalid literal source ${text}, expected key=value`)
    add(text.slice(0, at), Buffer.from(text.slice(at + 1)))
  }
  for (const text of flags.fromFile)
    for (const [key, path] of await filesOf(host, text)) add(key, await read(host, path))
  for (const path of flags.fromEnvFile)
    for (const [key, value] of await variablesOf(host, path)) add(key, Buffer.from(value))
  return data
}

/** Throws a CliError where it is no key, or there already. `where` is empty of a Secret. */
function addKey(data: Map<string, Uint8Array>, key: string, value: Uint8Array, where: string): void {
  const problems = problemsOfKey(key)
  if (problems.length > 0) {
    const [what, comma] =
      where === '' ? ['valid key name for a Secret', ';'] : ['a valid key name for a ConfigMap:', ',']
    throw new CliError(`${JSON.stringify(key)} is not ${what} ${problems.join(comma)}`)
  }
  if (data.has(key)) {
    const shown = where === '' ? key : JSON.stringify(key)
    throw new CliError(`cannot add key ${shown}, another key by that name already exists${where}`)
  }
  data.set(key, value)
}

/** What is wrong with a key, in the words of the API. */
function problemsOfKey(key: string): readonly string[] {
  const problems: string[] = []
  if (key.length > 253) problems.push('must be no more than 253 bytes')
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    problems.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    )
  }
  if (key === '.') problems.push("must not be '.'")
  else if (key === '..') problems.push("must not be '..'")
  else if (key.startsWith('..')) problems.push("must not start with '..'")
  return problems
}

/** The key and the path of each file that `--from-file` names: one, or those of a directory. */
async function filesOf(host: Host, text: string, keyDefault?: string): Promise<readonly (readonly [string, string])[]> {
  const { key = keyDefault, path } = parseFileSource(text)
  const about = await stat(resolve(host.workingDirectory, path)).catch((error: unknown) => {
    throw unreadable(path, error)
  })
  if (!about.isDirectory()) return [[key ?? basename(path), path]]
  if (key !== undefined) throw new CliError('cannot give a key name for a directory path')
  const entries = await readdir(resolve(host.workingDirectory, path), { withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, join(path, name)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** `FILE` or `KEY=FILE`. */
function parseFileSource(text: string): { readonly key?: string; readonly path: string } {
  const [first = '', second, ...more] = text.split('=')
  if (more.length > 0) throw new CliError(`key names or file paths cannot contain '='`)
  if (second === undefined) return { path: first }
  if (first === '') throw new CliError(`key name for file path ${second} missing`)
  if (second === '') throw new CliError(`file path for key name ${first} missing`)
  return { key: first, path: second }
}

async function read(host: Host, path: string): Promise<Uint8Array> {
  const full = resolve(host.workingDirectory, path)
  try {
    const { size } = await stat(full)
    if (size > fileBytesMax) throw new CliError(`${path} is larger than ${fileBytesMax / 1024 / 1024} MiB`)
    return await readFile(full)
  } catch (error) {
    throw error instanceof CliError ? error : unreadable(path, error)
  }
}

/** The same for a certificate or its key, with kubectl's words where there is no such file. */
async function readPem(host: Host, path: string): Promise<Uint8Array> {
  await stat(resolve(host.workingDirectory, path)).catch(() => {
    throw new CliError(`Cannot read file ${path}, open ${path}: no such file or directory`)
  })
  return read(host, path)
}

function unreadable(path: string, error: unknown): CliError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return new CliError(
    code === 'ENOENT'
      ? `error reading ${path}: no such file or directory`
      : `error reading ${path}: ${error instanceof Error ? error.message : error}`,
  )
}

const byteOrderMark = '\u{feff}'

async function variablesOf(host: Host, path: string): Promise<readonly (readonly [string, string])[]> {
  const found = await stat(resolve(host.workingDirectory, path)).catch(() => undefined)
  if (found?.isDirectory() === true) throw new CliError('env config file cannot be a directory')
  return linesOf(await read(host, path), path)
    .map((line, index) => (index === 0 && line.startsWith(byteOrderMark) ? line.slice(1) : line))
    .map((line) => line.replace(leadingSpace, ''))
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const at = line.indexOf('=')
      const key = at < 0 ? line : line.slice(0, at)
      requireVariableName(key)
      // A name alone takes its value from our own environment.
      return [key, at < 0 ? (host.variables[key] ?? '') : line.slice(at + 1)] as const
    })
}

/** What Go counts as space: a mark of the order of bytes is none. */
const leadingSpace = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

/** Throws a CliError on a line that is no text. */
function linesOf(bytes: Uint8Array, path: string): readonly string[] {
  const lines = Buffer.from(bytes).toString('latin1').split(/\r?\n/)
  return lines.map((line, index) => {
    const raw = Buffer.from(line, 'latin1')
    if (isUtf8(raw)) return raw.toString('utf8')
    throw new CliError(`env file ${path} contains invalid utf8 bytes at line ${index + 1}: [${[...raw].join(' ')}]`)
  })
}

/** Throws a CliError where a text is no name of an environment variable, which kubectl takes more narrowly than the API. */
function requireVariableName(key: string): void {
  if (/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(key)) return
  throw new CliError(
    `${goQuoted(key)} is not a valid key name: a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')`,
  )
}

/** A ConfigMap with these keys; what is no text stands in `binaryData`. */
export function generateConfigMap(name: string, data: ReadonlyMap<string, Uint8Array>): KubernetesObject {
  const entries = [...data].map(([key, bytes]) => [key, bytes, textOf(bytes)] as const)
  const texts = entries.flatMap(([key, , text]) => (text === undefined ? [] : [[key, text] as const]))
  const binaries = entries.flatMap(([key, bytes, text]) => (text === undefined ? [[key, base64(bytes)] as const] : []))
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    ...(texts.length === 0 ? {} : { data: Object.fromEntries(texts) }),
    ...(binaries.length === 0 ? {} : { binaryData: Object.fromEntries(binaries) }),
  }
}

/** A Secret with these keys. */
export function generateSecret(name: string, data: ReadonlyMap<string, Uint8Array>, type?: string): KubernetesObject {
  const entries = [...data].map(([key, bytes]) => [key, base64(bytes)] as const)
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    ...(type === undefined || type === '' ? {} : { type }),
    ...(entries.length === 0 ? {} : { data: Object.fromEntries(entries) }),
  }
}

/** A Secret with a certificate and its key. */
export async function generateTlsSecret(
  host: Host,
  name: string,
  cert: string,
  key: string,
): Promise<KubernetesObject> {
  const [certificate, privateKey] = [await readPem(host, cert), await readPem(host, key)]
  await requireKeyPair(certificate, privateKey)
  const data = new Map([
    ['tls.crt', certificate],
    ['tls.key', privateKey],
  ])
  return generateSecret(name, data, 'kubernetes.io/tls')
}

/** Rejects with a CliError, in the words of Go's TLS, where a certificate and a key are none, or not of each other. */
async function requireKeyPair(certificate: Uint8Array, key: Uint8Array): Promise<void> {
  const { createPrivateKey, X509Certificate } = await import('node:crypto')
  requirePem(certificate, 'certificate', /^CERTIFICATE$/)
  requirePem(key, 'key', /PRIVATE KEY$/)
  const parsed = attempt(() => new X509Certificate(certificate), 'x509: malformed certificate')
  const parsedKey = attempt(() => createPrivateKey(Buffer.from(key)), 'tls: failed to parse private key')
  if (!parsed.checkPrivateKey(parsedKey)) throw new CliError('tls: private key does not match public key')
}

function requirePem(bytes: Uint8Array, what: 'certificate' | 'key', wanted: RegExp): void {
  const types = [
    ...Buffer.from(bytes)
      .toString('latin1')
      .matchAll(/^-----BEGIN (.+)-----$/gm),
  ].map(([, type = '']) => type.trimEnd())
  if (types.some((type) => wanted.test(type))) return
  if (types.length === 0) throw new CliError(`tls: failed to find any PEM data in ${what} input`)
  throw new CliError(
    what === 'certificate'
      ? `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(' ')}]`
      : `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(' ')}]`,
  )
}

function attempt<T>(parse: () => T, failure: string): T {
  try {
    return parse()
  } catch {
    throw new CliError(failure)
  }
}

export interface RegistryFlags {
  /** Files of credentials, in the place of the others. */
  readonly fromFile: readonly string[]
  readonly dockerServer: string
  readonly dockerUsername?: string
  readonly dockerPassword?: string
  readonly dockerEmail?: string
}

/** A Secret that opens registries of images. */
export async function generateRegistrySecret(
  host: Host,
  name: string,
  flags: RegistryFlags,
): Promise<KubernetesObject> {
  const data = flags.fromFile.length > 0 ? await readRegistryFiles(host, flags.fromFile) : registryCredentials(flags)
  return generateSecret(name, data, 'kubernetes.io/dockerconfigjson')
}

/** Where a Secret of credentials has them. */
const registryKey = '.dockerconfigjson'

async function readRegistryFiles(host: Host, texts: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const data = new Map<string, Uint8Array>()
  for (const text of texts) {
    for (const [key, path] of await filesOf(host, text, registryKey)) addKey(data, key, await read(host, path), '')
  }
  return data
}

function registryCredentials(flags: RegistryFlags): ReadonlyMap<string, Uint8Array> {
  const { dockerServer, dockerUsername = '', dockerPassword = '', dockerEmail } = flags
  if ([dockerServer, dockerUsername, dockerPassword].includes('')) {
    throw new CliError(
      'either --from-file or the combination of --docker-username, --docker-password and --docker-server is required',
    )
  }
  const credentials = {
    username: dockerUsername,
    password: dockerPassword,
    ...(dockerEmail === undefined ? {} : { email: dockerEmail }),
    auth: base64(Buffer.from(`${dockerUsername}:${dockerPassword}`)),
  }
  const text = JSON.stringify({ auths: { [dockerServer]: credentials } })
  return new Map([[registryKey, Buffer.from(text)]])
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

/** The text that bytes are; undefined where they are no UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
