import { chownSync, closeSync, constants, fstatSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { ContainerConfig } from '../runtime.ts'
import { logMessageBytesMax, logMessageLinesMax, terminationMessageBytesMax } from '../termination-limits.ts'
import { logSegments } from './log-segments.ts'
import type { ContainerRecord } from './record-store.ts'
import type { ViewFiles } from './view/view-files.ts'

/** Where a container finds the path of the file for its last words. */
export const terminationMessageVariable = 'CORACLE_TERMINATION_MESSAGE_PATH'

/** File times may lag behind the clock by a tick of the host's. */
const fileTimeSlackMs = 10

/** A file as its container calls it, and where it is on the host. */
export interface MessagePath {
  readonly inside: string
  readonly onHost: string
}

/**
 * The file that a container's last words are read from: the one it names, where that lies in its working directory or in a volume that
 * it alone sees there, and otherwise `own`: no file is made for it elsewhere, such as /dev/termination-log. Throws where no file can be called that.
 */
export function terminationMessagePath(
  config: ContainerConfig,
  directory: string,
  own: MessagePath,
  view?: ViewFiles,
): MessagePath {
  const asked = config.terminationMessagePath ?? ''
  if (asked.includes('\0')) throw new Error('invalid argument: the path of the termination message has a NUL in it')
  const path = resolve(directory, asked)
  const way = relative(directory, path)
  if (asked === '' || way === '') return own
  if (view === undefined) return way.startsWith('..') ? own : { inside: path, onHost: path }
  const onHost = view.hostPath(path)
  const isIts = !way.startsWith('..') || view.shownAt(view.resolve(path)) !== undefined
  return isIts && onHost !== undefined ? { inside: path, onHost } : own
}

/** Makes room for the last words of a run: those of an earlier one are gone, where they are the runtime's to remove. */
export function prepareTerminationMessage(
  path: string,
  own: string,
  { workDirectory, user }: Pick<ContainerRecord, 'workDirectory' | 'user'>,
): void {
  if (path === own) {
    writeFileSync(path, '', { mode: 0o600 })
    if (user !== undefined) chownSync(path, user.uid, user.gid)
    return
  }
  // In a directory of another user links may lead anywhere: what is older than the run says nothing there either.
  if (user !== undefined) return
  if (!relative(workDirectory, path).startsWith('..')) rmSync(path, { force: true, recursive: false })
}

/** What a run that has ended says of its end: its last words, or else, if it has failed and so wishes, the end of its log. */
export function terminationMessage(record: ContainerRecord, exitCode: number): string {
  const { config, logPath, messagePath, startedAtMs = 0, user } = record
  const said = messagePath === undefined ? '' : lastWords(messagePath, startedAtMs, user?.uid)
  if (said !== '' || !config.messageFromLog || exitCode === 0) return said
  return lastLines(logPath)
}

/** What is not a plain file, or is older than the run, or is not its user's, says nothing. */
function lastWords(path: string, startedAtMs: number, uid: number | undefined): string {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? '' : `Error on reading termination log ${path}: ${(error as Error).message}`
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.mtimeMs < startedAtMs - fileTimeSlackMs) return ''
    if (uid !== undefined && stat.uid !== uid) return ''
    return readEnd(file, stat.size, terminationMessageBytesMax).toString('utf8')
  } finally {
    closeSync(file)
  }
}

/** The last lines of a log, from its newest files. */
function lastLines(path: string): string {
  let bytes: Buffer = Buffer.alloc(0)
  for (const segment of logSegments(path).toReversed()) {
    if (bytes.length >= logMessageBytesMax) break
    bytes = Buffer.concat([endOf(segment.path, segment.bytes, logMessageBytesMax - bytes.length), bytes])
  }
  const lines = bytes.toString('utf8').split('\n')
  const ended = lines.at(-1) === '' ? 1 : 0
  return lines.slice(-(logMessageLinesMax + ended)).join('\n')
}

function endOf(path: string, size: number, bytesMax: number): Buffer {
  if (size === 0) return Buffer.alloc(0)
  const file = openSync(path, 'r')
  try {
    return readEnd(file, size, bytesMax)
  } finally {
    closeSync(file)
  }
}

function readEnd(file: number, size: number, bytesMax: number): Buffer {
  const buffer = Buffer.alloc(Math.min(size, bytesMax))
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, size - buffer.length))
}
