import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection, type Target } from './connection.ts'

const program = join(import.meta.dirname, '..', '..', 'dist', 'coracle.js')

/** A Coracle under measurement: the bundled program in a process of its own, over TLS, on a disk store. */
export interface Server extends AsyncDisposable {
  readonly target: Target
  readonly pid: number
  /** From `spawn` until `/readyz` answered 200. */
  readonly startMs: number
}

/** Starts the program on a fresh data directory. `args` are added to `coracle up`. */
export async function startServer(args: readonly string[] = []): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'coracle-bench-'))
  const port = await freePort()
  const started = performance.now()
  const child = spawn(process.execPath, [program, 'up', '--port', String(port), '--data-dir', dataDir, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await untilReady(child, dataDir, port)
  const startMs = performance.now() - started
  const token = (await readFile(join(dataDir, 'token'), 'utf8')).trim()
  return {
    target: { host: '127.0.0.1', port, token },
    pid: child.pid ?? 0,
    startMs,
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.kill('SIGINT')
      await exited
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function untilReady(child: ChildProcess, dataDir: string, port: number): Promise<void> {
  const deadline = performance.now() + 30_000
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode} before it was ready`)
    if (existsSync(join(dataDir, 'token')) && (await isReady(port))) return
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  throw new Error('not ready within 30 s')
}

async function isReady(port: number): Promise<boolean> {
  try {
    const connection = await Connection.open({ host: '127.0.0.1', port, token: '' })
    const answer = await connection.request('GET', '/readyz')
    connection.close()
    return answer.status === 200
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port to be had')
  return address.port
}

/** The reference server that KUBE_APISERVER_URL and KUBE_TOKEN name, if they do. */
export function referenceTarget(): Target | undefined {
  const url = process.env.KUBE_APISERVER_URL
  const token = process.env.KUBE_TOKEN
  if (url === undefined || token === undefined) return undefined
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port || 443), token }
}
