/** What the names of the headers begin with by which one acts as someone else. */
export const impersonationPrefix = 'impersonate-'

const letterI = 0x69

/** Whether a request has such a header. `rawHeaders` are names and values in turn. */
export function asksToImpersonate(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // Every request passes here, and all but none of them has such a header.
    if ((name.charCodeAt(0) | 0x20) === letterI && name.toLowerCase().startsWith(impersonationPrefix)) return true
  }
  return false
}
