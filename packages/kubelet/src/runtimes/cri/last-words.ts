import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { logMessageBytesMax, logMessageLinesMax, terminationMessageBytesMax } from '../termination-limits.ts'
import { parseEntry } from './log-format.ts'
import { annotations, fallbackToLogs } from './names.ts'
import type { CriContainerStatus } from './statuses.ts'

/**
 * What a container that has ended says of it: what it has written to the file for that, or else, where it has failed and so wishes, the end of
 * its log. Never rejects: what goes wrong is said in its place, as upstream does.
 */
export async function lastWordsOf(status: CriContainerStatus): Promise<string> {
  const path = status.annotations[annotations.terminationMessagePath] ?? ''
  // Its own file hides whatever volume is mounted there, in which a link may lead to any file of the node.
  const source = status.mounts.findLast(({ containerPath }) => path !== '' && containerPath === path)?.hostPath
  const said = source === undefined ? '' : await wordsAt(source)
  if (said !== '' || status.annotations[annotations.terminationMessagePolicy] !== fallbackToLogs) return said
  // One that could not be started has no log.
  if (status.exitCode === 0 || status.startedAt === 0) return ''
  return lastLines(status.logPath)
}

async function wordsAt(path: string): Promise<string> {
  try {
    return (await endOf(path, terminationMessageBytesMax)).toString('utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    return `Error on reading termination log ${path}: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** As many of the last lines as fit. An entry has up to 60 bytes beside its text. */
async function lastLines(path: string): Promise<string> {
  const raw = await endOf(path, logMessageBytesMax + logMessageLinesMax * 60).catch(() => Buffer.alloc(0))
  const entries = raw
    .toString('utf8')
    .split('\n')
    .flatMap((line) => parseEntry(Buffer.from(line)) ?? [])
    .slice(-logMessageLinesMax)
  const text = entries.map(({ content, isPartial }) => `${content.toString('utf8')}${isPartial ? '' : '\n'}`).join('')
  return Buffer.from(text).subarray(-logMessageBytesMax).toString('utf8')
}

async function endOf(path: string, bytesMax: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.min(size, bytesMax))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, size - buffer.length)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
