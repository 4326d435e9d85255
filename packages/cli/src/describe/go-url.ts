/** An address as Go's net/url writes it: what may not stand in a host or a path as it is, is written with `%`. */
export function goUrl({ scheme, host, path }: { scheme: string; host: string; path: string }): string {
  const slash = path === '' || path.startsWith('/') ? '' : '/'
  return `${scheme}://${escapeExcept(hostMarks, host)}${slash}${path === '*' ? path : escapeExcept(pathMarks, path)}`
}

/** `host:port`, with brackets around an IPv6 address (Go's net.JoinHostPort). */
export const joinHostPort = (host: string, port: number | string): string =>
  host.includes(':') || host.includes('%') ? `[${host}]:${port}` : `${host}:${port}`

/** What stands as it is beside letters, digits and `-_.~`. */
const hostMarks = '!$&\'()*+,;=:[]<>"'
const pathMarks = '$&+,/:;=@'

function escapeExcept(marks: string, text: string): string {
  const escaped = (character: string): string =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  return [...text].map((each) => (/[\w.~-]/.test(each) || marks.includes(each) ? each : escaped(each))).join('')
}
