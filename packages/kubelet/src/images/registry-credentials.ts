import { createHash } from 'node:crypto'
import type { Secret } from '@coracle/api'
import type { RegistryCredentials } from '../runtimes/runtime.ts'

/** Where images are that name no registry. */
const defaultRegistries = ['index.docker.io', 'docker.io']

interface RegistryEntry {
  /** A host, perhaps with a port and a path, without a scheme. Parts of the host may be `*`. */
  readonly place: string
  readonly credentials: RegistryCredentials
}

/**
 * Those of the credentials in these secrets that are for the registry of an image, the most specific first; the rules are those of
 * upstream's keyring (https://kubernetes.io/docs/concepts/containers/images/#config-json). Secrets that hold none, or none that
 * can be read, are left out.
 */
export function credentialsFor(image: string, secrets: readonly Secret[]): readonly SecretCredentials[] {
  const name = repositoryOf(image)
  const entries = secrets.flatMap((secret) => entriesOf(secret).map((entry) => ({ ...entry, secret })))
  return entries
    .filter(({ place }) => isFor(place, name))
    .sort((a, b) => (a.place < b.place ? 1 : a.place > b.place ? -1 : 0))
    .map(({ credentials, secret }) => ({ credentials, source: sourceOf(secret, credentials) }))
}

/** Credentials, and where they are from. */
export interface SecretCredentials {
  readonly credentials: RegistryCredentials
  readonly source: PullSecret
}

/** A secret, and what of it is used, as a digest. */
export interface PullSecret {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  readonly credentialHash: string
}

function sourceOf({ metadata }: Secret, credentials: RegistryCredentials): PullSecret {
  const { uid = '', namespace = '', name = '' } = metadata
  const { username = '', password = '' } = credentials
  const credentialHash = createHash('sha256')
    .update(JSON.stringify([username, password]))
    .digest('hex')
  return { uid, namespace, name, credentialHash }
}

/** The name of an image with its registry, and without its tag or digest. */
export function repositoryOf(image: string): string {
  const [name = ''] = image.split('@')
  const bare = name.replace(/:[^/:]*$/, '')
  const [first = ''] = bare.split('/')
  const hasHost = bare.includes('/') && (/[.:]/.test(first) || first === 'localhost')
  if (hasHost) return bare
  return `index.docker.io/${bare.includes('/') ? bare : `library/${bare}`}`
}

function isFor(place: string, image: string): boolean {
  const [host = '', ...path] = place.split('/')
  const [imageHost = '', ...imagePath] = image.split('/')
  const isDefault = defaultRegistries.includes(host) && defaultRegistries.includes(imageHost)
  if (isDefault) return path.join('/') === 'v1' || path.join('/') === 'v2' || startsWith(imagePath, path)
  return matchesHost(host, imageHost) && startsWith(imagePath, path)
}

const startsWith = (parts: readonly string[], beginning: readonly string[]): boolean =>
  parts.join('/').startsWith(beginning.join('/'))

/** As many parts, of which `*` stands for anything in one. */
function matchesHost(pattern: string, host: string): boolean {
  const [patternName = '', patternPort = ''] = splitPort(pattern)
  const [name = '', port = ''] = splitPort(host)
  const [patternParts, parts] = [patternName.split('.'), name.split('.')]
  if (patternPort !== port || patternParts.length !== parts.length) return false
  return patternParts.every((part, index) => isLike(part, parts[index] ?? ''))
}

const splitPort = (host: string): readonly string[] => host.split(':')

/**
 * Whether a text is one that a pattern stands for: `*` is any text, `?` any character. Patterns are anybody's, and a regular expression of many
 * stars takes for ever: this goes back to the last star alone, since no other has to take more.
 */
function isLike(pattern: string, text: string): boolean {
  let [at, star, starTo] = [0, -1, 0]
  for (let index = 0; index < text.length; ) {
    if (pattern[at] === '*') {
      star = at++
      starTo = index
    } else if (pattern[at] === '?' || pattern[at] === text[index]) {
      at += 1
      index += 1
    } else if (star >= 0) {
      at = star + 1
      starTo += 1
      index = starTo
    } else return false
  }
  while (pattern[at] === '*') at += 1
  return at === pattern.length
}

function entriesOf({ type, data = {} }: Secret): readonly RegistryEntry[] {
  try {
    const config = data['.dockerconfigjson']
    if (type === 'kubernetes.io/dockerconfigjson' && config !== undefined) return entriesIn(parse(config)?.auths)
    const old = data['.dockercfg']
    return type === 'kubernetes.io/dockercfg' && old !== undefined ? entriesIn(parse(old)) : []
  } catch {
    return []
  }
}

interface ConfigEntry {
  readonly username?: string
  readonly password?: string
  readonly auth?: string
}

// biome-ignore lint/suspicious/noExplicitAny: what a secret holds is anybody's guess
const parse = (base64: string): any => JSON.parse(Buffer.from(base64, 'base64').toString('utf8'))

function entriesIn(auths: Readonly<Record<string, ConfigEntry>> | undefined): readonly RegistryEntry[] {
  return Object.entries(auths ?? {}).map(([server, entry]) => ({
    place: placeOf(server),
    credentials: credentialsOf(entry),
  }))
}

/** As Docker has it, the versions of the API of registries stand for the whole of one. */
function placeOf(server: string): string {
  const [host = '', ...rest] = server.replace(/^https?:\/\//, '').split('/')
  const path = rest
    .map((part) => `/${part}`)
    .join('')
    .replace(/^\/v[12]\//, '/')
  return path === '/' ? host : host + path
}

/** `auth` is a name and a password in one, and counts before those. Throws where it is not. */
function credentialsOf({ username = '', password = '', auth = '' }: ConfigEntry): RegistryCredentials {
  if (auth === '') return { username, password }
  const text = Buffer.from(auth, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) throw new Error('no name and password')
  return { username: text.slice(0, colon), password: text.slice(colon + 1).replace(/\0+$/, '') }
}
