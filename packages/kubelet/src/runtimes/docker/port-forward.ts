import { spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { forwardPort } from '../process/port-forward.ts'
import type { InspectedContainer } from './answers.ts'
import { addressesOf } from './sandbox-requests.ts'

const loopback = '127.0.0.1'

/**
 * Connects a stream to a port of a sandbox: at its address; where nothing listens there, inside of its network, so that servers which listen on
 * loopback alone are reached as well. That takes the program `nsenter` and the rights of the superuser.
 */
export async function forwardToSandbox(
  { State, HostConfig, NetworkSettings }: InspectedContainer,
  port: number,
  stream: Duplex,
  signal: AbortSignal,
): Promise<void> {
  if (!State.Running) throw new Error('the sandbox of the pod does not run')
  const [address] = addressesOf(NetworkSettings)
  if (HostConfig?.NetworkMode === 'host' || address === undefined) {
    await forwardPort(loopback, port, stream, signal)
    return
  }
  try {
    await forwardPort(address, port, stream, signal)
  } catch (error) {
    const isRefused = error instanceof Error && error.message.endsWith('connection refused')
    if (!isRefused || State.Pid === undefined || process.getuid?.() !== 0) throw error
    await forwardInside(State.Pid, port, stream, signal)
  }
}

/** Connects its streams to a port, and says where that fails. As `forwardPort`, it ends when the port's side has. */
const relay = `
const socket = require('node:net').connect({ host: '${loopback}', port: Number(process.argv[1]), allowHalfOpen: true })
let isConnected = false
socket.once('connect', () => { isConnected = true; process.stdin.pipe(socket); socket.pipe(process.stdout) })
socket.once('end', () => socket.destroy())
socket.once('error', ({ code, message }) => {
  const reason = code === 'ECONNREFUSED' ? 'connection refused' : message
  process.stderr.write(isConnected ? message : 'dial tcp ${loopback}:' + process.argv[1] + ': connect: ' + reason)
  process.exitCode = 1
})
socket.once('close', () => process.stdin.destroy())
`
/** How much of what a relay says is kept. */
const wordsMax = 4096

function forwardInside(pid: number, port: number, stream: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const args = ['--target', String(pid), '--net', process.execPath, '--eval', relay, String(port)]
    const child = spawn('nsenter', args, { stdio: 'pipe' })
    const leave = () => child.kill('SIGKILL')
    signal.addEventListener('abort', leave, { once: true })
    stream.once('close', leave)
    let words = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(0, wordsMax)
    })
    child.stdin.on('error', () => {})
    child.once('error', reject)
    stream.pipe(child.stdin)
    if (stream.readableEnded) child.stdin.end()
    // Where nothing listens, its output ends before it is known why.
    child.stdout.pipe(stream, { end: false })
    child.once('close', (code) => {
      signal.removeEventListener('abort', leave)
      stream.off('close', leave)
      stream.unpipe(child.stdin)
      if (code !== 0 && code !== null) return reject(new Error(words.trim() || `nsenter ended with ${code}`))
      stream.end()
      resolve()
    })
  })
}
