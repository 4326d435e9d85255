/** One entry of a container's log as runtimes write it. */
export interface LogEntry {
  /** As it is written: RFC 3339 with up to nine digits of a second. */
  readonly time: string
  readonly stream: string
  /** Whether the line goes on with the next entry of the stream. */
  readonly isPartial: boolean
  /** Without the end of its line. */
  readonly content: Buffer
}

const space = 0x20

/**
 * An entry, without the end of its line: `2016-10-06T00:17:09.669794202Z stdout F log content`. Undefined where it is none, such as the
 * beginning of one that is still being written.
 * https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md
 */
export function parseEntry(line: Buffer): LogEntry | undefined {
  const timeEnd = line.indexOf(space)
  const streamEnd = line.indexOf(space, timeEnd + 1)
  if (timeEnd <= 0 || streamEnd < 0) return undefined
  const tagsEnd = line.indexOf(space, streamEnd + 1)
  const end = tagsEnd < 0 ? line.length : tagsEnd
  const [tag] = line.toString('latin1', streamEnd + 1, end).split(':')
  if (tag !== 'F' && tag !== 'P') return undefined
  return {
    time: line.toString('latin1', 0, timeEnd),
    stream: line.toString('latin1', timeEnd + 1, streamEnd),
    isPartial: tag === 'P',
    content: tagsEnd < 0 ? Buffer.alloc(0) : line.subarray(tagsEnd + 1),
  }
}

/** A time with nine digits of a second, as clients are shown it. */
export function fullTime(time: string): string {
  const [, seconds = time, digits = '', zone = ''] = /^([^.Z+]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time) ?? []
  return `${seconds}.${digits.padEnd(9, '0').slice(0, 9)}${zone}`
}
