import { homedir } from 'node:os'
import { basename } from 'node:path'
import { realEnvironment, returnMemoryWhenIdle, silentLogger } from '@coracle/environment'
import { announce, startDetached } from './detached-program.ts'
import type { Host, Output } from './host.ts'
import { hostProcesses } from './host-processes.ts'
import { npmProcess, onNpmEnd } from './npm-process.ts'
import { processInput } from './process-input.ts'

/** Signals that ask a process to end: from the terminal, from whoever runs it, and when the terminal is closed. */
const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** The same for a process that is to outlive its terminal. */
const nohupEndSignals = ['SIGINT', 'SIGTERM'] as const

/**
 * Whether the process was started with `nohup`, which had it ignore SIGHUP. Node.js undoes that at its start; what still
 * tells is how the shell names the command it has run.
 */
const isNohup = ({ _: command = '' }: NodeJS.ProcessEnv): boolean => basename(command) === 'nohup'

/** The process itself. `keepCode` keeps its code for the next start. */
export function processHost(keepCode: () => void): Host {
  // Commands say what there is to say; `up` has a logger of its own.
  const environment = realEnvironment(silentLogger)
  const handlers = new Set<() => void>()
  let isInterrupted = false
  const interrupt = (): void => {
    isInterrupted = true
    for (const handler of handlers) handler()
  }
  // Who asks again is in a hurry. What merely happens, and may well because of the first time, asks for nothing more.
  const interruptOnce = (): void => {
    if (!isInterrupted) interrupt()
  }
  let isReaderGone = false
  // The reader has gone, as in `coracle get pods | head -1`: nobody is left to tell anything. What has to stop in
  // order is asked to, and anything else ends here.
  const onReaderGone = (error: NodeJS.ErrnoException): void => {
    if (isReaderGone) return
    isReaderGone = true
    // A full disk takes nothing either, and whoever sees the exit code is to know why.
    if (error.code !== 'EPIPE') process.stderr.write(`error: cannot write what there is to show: ${error.message}\n`)
    if (handlers.size === 0) process.exit(error.code === 'EPIPE' ? 0 : 1)
    interruptOnce()
  }
  const signals = isNohup(process.env) ? nohupEndSignals : endSignals
  if (signals === nohupEndSignals) process.on('SIGHUP', () => {})
  let stopWatching: (() => void) | undefined
  const begin = (): void => {
    for (const signal of signals) process.on(signal, interrupt)
    const npm = npmProcess(process.env)
    stopWatching = npm === undefined ? undefined : onNpmEnd(environment.clock, npm, interruptOnce)
  }
  const end = (): void => {
    for (const signal of signals) process.off(signal, interrupt)
    stopWatching?.()
  }
  return {
    environment,
    variables: process.env,
    workingDirectory: process.cwd(),
    homeDirectory: homedir(),
    stdout: outputOf(process.stdout, onReaderGone),
    stderr: outputOf(process.stderr, onReaderGone),
    readStdin,
    input: processInput,
    // Most commands run none.
    runProgram: async (...given) => (await import('./run-program.ts')).runProgram(...given),
    processes: hostProcesses,
    startDetached,
    announce,
    onInterrupt(handler) {
      if (handlers.size === 0) begin()
      handlers.add(handler)
      return () => {
        handlers.delete(handler)
        if (handlers.size === 0) end()
      }
    },
    keepCode,
    returnMemoryWhenIdle: (parts) => returnMemoryWhenIdle(environment.clock, parts),
    async delayLastCompiler() {
      // Only a server needs it: other commands are over before it would matter.
      const { delayLastCompiler } = await import('@coracle/environment/last-compiler')
      return delayLastCompiler(environment.clock)
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
