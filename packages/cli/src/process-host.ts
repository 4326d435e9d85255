import { homedir } from 'node:os'
import { realEnvironment } from '@coracle/environment'
import type { Host, Output } from './host.ts'

/** The process itself. */
export function processHost(): Host {
  return {
    environment: realEnvironment(),
    variables: process.env,
    workingDirectory: process.cwd(),
    homeDirectory: homedir(),
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    readStdin,
    onInterrupt(handler) {
      process.on('SIGINT', handler).on('SIGTERM', handler)
      return () => process.off('SIGINT', handler).off('SIGTERM', handler)
    },
    exit: (code) => process.exit(code),
  }
}

function outputOf(stream: NodeJS.WriteStream): Output {
  // The reader has gone, as in `coracle get pods | head -1`: nobody is left to tell anything.
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  return {
    write(chunk) {
      stream.write(chunk)
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
