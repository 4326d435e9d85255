import { homedir } from 'node:os'
import { realEnvironment, silentLogger } from '@coracle/environment'
import type { Host, Output } from './host.ts'

/** Signals that ask a process to end: from the terminal, from whoever runs it, and when the terminal is closed. */
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The process itself. */
export function processHost(): Host {
  const handlers = new Set<() => void>()
  let isReaderGone = false
  // The reader has gone, as in `coracle get pods | head -1`: nobody is left to tell anything. What has to stop in
  // order is asked to, and anything else ends here.
  const onReaderGone = (error: NodeJS.ErrnoException): void => {
    if (isReaderGone) return
    isReaderGone = true
    if (handlers.size === 0) process.exit(error.code === 'EPIPE' ? 0 : 1)
    for (const handler of handlers) handler()
  }
  return {
    // Commands say what there is to say; `up` has a logger of its own.
    environment: realEnvironment(silentLogger),
    variables: process.env,
    workingDirectory: process.cwd(),
    homeDirectory: homedir(),
    stdout: outputOf(process.stdout, onReaderGone),
    stderr: outputOf(process.stderr, onReaderGone),
    readStdin,
    onInterrupt(handler) {
      handlers.add(handler)
      for (const signal of endSignals) process.on(signal, handler)
      return () => {
        handlers.delete(handler)
        for (const signal of endSignals) process.off(signal, handler)
      }
    },
    exit: (code) => process.exit(code),
  }
}

function outputOf(stream: NodeJS.WriteStream, onReaderGone: (error: NodeJS.ErrnoException) => void): Output {
  stream.on('error', onReaderGone)
  return {
    write(chunk) {
      if (stream.writable) stream.write(chunk)
    },
    drained: () =>
      stream.writableNeedDrain ? new Promise((resolve) => stream.once('drain', resolve)) : Promise.resolve(),
    isTerminal: stream.isTTY === true,
  }
}

async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
