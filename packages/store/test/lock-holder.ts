// Locks a directory, prints `locked` with its process id, or why it could not, and stays until its input ends.
import { spawn } from 'node:child_process'
import { flushCompileCache } from 'node:module'
import { lockDirectory } from '../src/index.ts'

const [directory = '', then = ''] = process.argv.slice(2)
try {
  lockDirectory(directory)
  if (then === 'collect-garbage') globalThis.gc?.()
  // A child that outlives its parent, as the processes of pods do.
  const child = then === 'start-child' ? spawn('sleep', ['600'], { stdio: 'ignore', detached: true }) : undefined
  console.log(`locked ${child?.pid ?? process.pid}`)
} catch (error) {
  console.log(String(error))
}
flushCompileCache()
process.stdin.resume()
