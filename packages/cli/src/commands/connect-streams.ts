import { Writable } from 'node:stream'
import type { CommandRequest } from '@coracle/client/streaming'
import type { Host, Output } from '../host.ts'

/** How the terminal here is connected to a command elsewhere. */
export interface StreamFlags {
  readonly stdin?: boolean
  readonly tty?: boolean
  /** What is typed to leave a container that one is attached to by a terminal; that of kubectl unless given. */
  readonly detachKeys?: string
  /** Says nothing of its own. */
  readonly quiet?: boolean
}

/** The user has broken off what was connected. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  constructor() {
    super('interrupted')
  }
}

/**
 * Connects the input and the outputs of this process as flags say, and lets go of them again. Where there is to be a terminal
 * and the input is none, it is left out, and said so. While a terminal is connected it shows what it is given as it is: what is to be told
 * before is in `preface`, what comes after is told when this resolves.
 */
export async function connectStreams<R>(
  host: Host,
  flags: StreamFlags,
  act: (request: CommandRequest, isRaw: boolean) => Promise<R>,
  preface = '',
): Promise<R> {
  const { input, stdout, stderr } = host
  const wantsTty = flags.tty === true && flags.stdin === true
  const isRaw = wantsTty && input.isTerminal
  if (wantsTty && !isRaw && flags.quiet !== true) {
    stderr.write('Unable to use a TTY - input is not a terminal or the right kind of file\n')
  }
  const opened = flags.stdin === true ? input.open() : undefined
  const restore = isRaw ? input.makeRaw() : undefined
  // What is typed from now on is for the other end.
  stderr.write(preface)
  if (isRaw) input.showAsWritten()
  const ended = new AbortController()
  // With a terminal at the other end Ctrl-C is a key like others.
  const stopInterrupts = host.onInterrupt(() => ended.abort(new InterruptedError()))
  try {
    const request: CommandRequest = {
      ...(opened === undefined ? {} : { stdin: opened.stream }),
      stdout: writableOf(stdout),
      stderr: writableOf(stderr),
      tty: isRaw,
      ...(isRaw ? { resizes: input.sizes(ended.signal) } : {}),
      signal: ended.signal,
    }
    return await act(request, isRaw)
  } finally {
    ended.abort()
    stopInterrupts()
    restore?.()
    opened?.close()
  }
}

/** An output as a stream that keeps pace with its reader. */
export function writableOf(output: Output): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, callback) {
      output.write(chunk)
      void output.drained().then(() => callback(), callback)
    },
  })
}
