import { posix } from 'node:path'

/** The page on which an address stands. */
export interface ProxiedPage {
  /** The path under which the other server is reached here, without a slash at its end. */
  readonly prefix: string
  /** The other server, as it is reached: `10.0.0.1:8080`. */
  readonly host: string
  /** The `Host` of the request: some servers make addresses from it. */
  readonly requestHost: string
}

/**
 * An address on a page of another server, changed so that it leads there through this one. Those of third servers, and those
 * relative to the page, stay as they are (upstream's apimachinery util/proxy rewriteURL).
 */
export function rewriteUrl(url: string, { prefix, host, requestHost }: ProxiedPage): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: addresses with them are none
  if (/[\x00-\x1f\x7f]/.test(url)) return url
  const [, scheme = '', authority = '', path = '', rest = ''] =
    /^([a-z][a-z0-9+.-]*:)?(\/\/[^/?#]*)?([^?#]*)(.*)$/i.exec(url) ?? []
  if (!path.startsWith('/')) return url
  const named = authority.slice(2).replace(/^.*@/, '')
  if (named !== '' && named !== host && named !== requestHost) return url
  const origin = named !== '' && named === requestHost ? `${scheme}${authority}` : ''
  const target = path.startsWith(prefix) ? path : posix.join(prefix, path)
  return `${origin}${target}${rest}`
}
