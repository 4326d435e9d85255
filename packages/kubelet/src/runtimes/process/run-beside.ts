import { constants } from 'node:os'
import { type ExecResult, execOutputBytesMax } from '../runtime.ts'
import type { Command } from './command.ts'
import { launch } from './launch.ts'
import { signalGroup } from './process-identity.ts'
import { asItsUser } from './process-user.ts'

/** Runs a command to its end and keeps what it says. Aborting the signal kills it with all it has started. */
export function runBeside(command: Command, signal: AbortSignal): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const child = launch(asItsUser(command), ['ignore', 'pipe', 'pipe'])
    const pieces: Buffer[] = []
    let bytes = 0
    const keep = (piece: Buffer) => {
      if (bytes < execOutputBytesMax) pieces.push(piece.subarray(0, execOutputBytesMax - bytes))
      bytes += piece.length
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
    const abort = () => {
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
      // What it has left behind in a session of its own may have its output for ever.
      child.stdout?.destroy()
      child.stderr?.destroy()
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    child.once('error', reject)
    child.once('close', (code, ended) => {
      signal.removeEventListener('abort', abort)
      const exitCode = ended === null ? (code ?? 0) : 128 + constants.signals[ended]
      resolve({ exitCode, output: Buffer.concat(pieces).toString('utf8') })
    })
  })
}
