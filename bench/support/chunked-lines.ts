/** Cuts an HTTP answer that does not end into its lines, as they come: a head, then chunks. */
export function chunkedLines(onLine: (line: string) => void): (data: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0)
  let hasHead = false
  /** Bytes of the present chunk that are still to come, with the line break behind it. */
  let left = 0
  let line = ''
  /** Takes what is complete of `pending`; false where more is needed. */
  const take = (): boolean => {
    if (left > 0) {
      const data = pending.subarray(0, Math.max(0, left - 2))
      // What is read of it is ASCII, and characters may be cut in two.
      line += data.toString('latin1')
      const taken = Math.min(left, pending.length)
      left -= taken
      pending = pending.subarray(taken)
      return pending.length > 0
    }
    const separator = hasHead ? '\r\n' : '\r\n\r\n'
    const end = pending.indexOf(separator)
    if (end < 0) return false
    if (hasHead) left = Number.parseInt(pending.toString('latin1', 0, end), 16) + 2
    hasHead = true
    pending = pending.subarray(end + separator.length)
    return pending.length > 0
  }
  return (data) => {
    pending = pending.length === 0 ? data : Buffer.concat([pending, data])
    while (take());
    const lines = line.split('\n')
    line = lines.pop() ?? ''
    for (const each of lines) if (each !== '') onLine(each)
  }
}
