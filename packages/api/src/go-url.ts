/** A URL as Go's `net/url` reads it, which takes other texts than browsers do. */
export interface GoUrl {
  /** In small letters; '' for a reference without one. */
  readonly scheme: string
  /** With its port. */
  readonly host: string
  /** As Go writes it, with the password; undefined where there is no `@`, and '' where nothing is before it. */
  readonly user: string | undefined
  /** As it was written; '' where what follows the scheme does not begin with a slash. */
  readonly path: string
  /** As it was written, without the `?`. */
  readonly query: string
  /** Unescaped. */
  readonly fragment: string
}

/** Why a text is no URL, in Go's words. */
export class GoUrlError extends Error {}

/** Reads a URL. Throws a GoUrlError. https://pkg.go.dev/net/url#Parse */
export function parseGoUrl(text: string): GoUrl {
  const [url = ''] = text.split('#', 1)
  const fragment = text.slice(url.length + 1)
  const parts = explained(url, () => partsOf(url))
  return { ...parts, fragment: explained(text, () => unescaped(fragment)) }
}

/**
 * Reads what is asked of a server: a URL with a scheme, or a path from the root. Nothing is a fragment. Throws a GoUrlError.
 * https://pkg.go.dev/net/url#ParseRequestURI
 */
export function parseGoRequestUri(text: string): Omit<GoUrl, 'fragment'> {
  return explained(text, () => {
    if (text === '') throw new GoUrlError('empty url')
    if (text === '*') return { scheme: '', host: '', user: undefined, path: text, query: '' }
    return partsOf(text, true)
  })
}

function explained<T>(url: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof GoUrlError) throw new GoUrlError(`parse ${JSON.stringify(url)}: ${error.message}`)
    throw error
  }
}

function partsOf(text: string, isRequest = false): Omit<GoUrl, 'fragment'> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(text)) throw new GoUrlError('net/url: invalid control character in URL')
  if (text.startsWith(':')) throw new GoUrlError('missing protocol scheme')
  const [head = '', given] = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text) ?? []
  const scheme = given?.toLowerCase() ?? ''
  const afterScheme = text.slice(head.length)
  const [rest = ''] = afterScheme.split('?', 1)
  const query = afterScheme.slice(rest.length + 1)
  const bare = { scheme, host: '', user: undefined, path: '', query }
  if (!rest.startsWith('/')) {
    if (isRequest && scheme === '') throw new GoUrlError('invalid URI for request')
    if (scheme === '' && rest.split('/', 1)[0]?.includes(':')) {
      throw new GoUrlError('first path segment in URL cannot contain colon')
    }
    if (scheme === '') unescaped(rest)
    return bare
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || (!isRequest && !rest.startsWith('///')))
  const [authority = ''] = hasAuthority ? rest.slice(2).split('/', 1) : []
  const at = authority.lastIndexOf('@')
  const host = hostOf(authority.slice(at + 1))
  const user = at < 0 ? undefined : userOf(authority.slice(0, at))
  const path = hasAuthority ? rest.slice(2 + authority.length) : rest
  unescaped(path)
  return { ...bare, host, user, path }
}

function hostOf(host: string): string {
  const end = host.startsWith('[') ? host.lastIndexOf(']') : undefined
  if (end === -1) throw new GoUrlError("missing ']' in host")
  const colon = end === undefined ? host.lastIndexOf(':') : end + 1
  const port = colon < 0 ? '' : host.slice(colon)
  if (!/^(?::\d*)?$/.test(port)) throw new GoUrlError(`invalid port ${JSON.stringify(port)} after host`)
  unescaped(host)
  // Escapes stand for what is no ASCII alone.
  const [ascii] = /%(?!25)[0-7][0-9a-fA-F]/.exec(host) ?? []
  if (ascii !== undefined) throw new GoUrlError(`invalid URL escape ${JSON.stringify(ascii)}`)
  const [odd] = /[^\w.~!$&'()*+,;=:[\]<>"%\u0080-\uffff-]/.exec(host) ?? []
  if (odd !== undefined) throw new GoUrlError(`invalid character ${JSON.stringify(odd)} in host name`)
  return host
}

function userOf(text: string): string {
  if (!/^[\w.:~!$&'()*+,;=%@-]*$/.test(text)) throw new GoUrlError('net/url: invalid userinfo')
  const [name = ''] = text.split(':', 1)
  const password = text.slice(name.length + 1)
  const shown = [name, ...(text.includes(':') ? [password] : [])].map((part) => escapedUser(unescaped(part)))
  return shown.join(':') === ':' ? '' : shown.join(':')
}

const escapedUser = (text: string): string =>
  [...Buffer.from(text)].map((byte) => byteOfUser(String.fromCharCode(byte), byte)).join('')

const byteOfUser = (character: string, byte: number): string =>
  /[\w.~$&+,;=-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`

function unescaped(text: string): string {
  const [bad] = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text) ?? []
  if (bad !== undefined) throw new GoUrlError(`invalid URL escape ${JSON.stringify(bad)}`)
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString())
}
