import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Connection, type Target } from './connection.ts'
import { ServerProcesses } from './server-processes.ts'

/** A server under measurement, over TLS. Disposing of it ends it, unless it is not the benchmark's own. */
export interface Server extends AsyncDisposable {
  readonly target: Target
  readonly processes: ServerProcesses
  /** From `spawn` until `/readyz` answered 200; 0 for a server that was running before. */
  readonly startMs: number
}

/** A program that is measured. */
export interface Subject {
  readonly name: string
  /** Where its sources are, if it has any here. */
  readonly workTree?: string
  /** A server of it: a fresh one with these arguments for `coracle up`, or the one that runs already. */
  start(args?: readonly string[]): Promise<Server>
}

/** The bundle of this work tree. */
export const builtProgram = join(import.meta.dirname, '..', '..', 'dist', 'coracle.js')

/** Coracle, as the bundle `program`: each server in a process of its own, on a fresh disk store. */
export function coracle(name: string, program: string): Subject {
  return { name, workTree: join(dirname(program), '..'), start: (args = []) => startProgram(program, args) }
}

async function startProgram(program: string, args: readonly string[]): Promise<Server> {
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
    processes: new ServerProcesses([child.pid ?? 0]),
    startMs,
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.kill('SIGINT')
      await exited
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** How long the reference server is left alone after it was measured: it goes on working after it has answered. */
const settleMs = 10_000

/** The reference server that KUBE_APISERVER_URL, KUBE_TOKEN and KUBE_PIDS name, if they do. */
export function referenceServer(): Subject | undefined {
  const { KUBE_APISERVER_URL: url, KUBE_TOKEN: token, KUBE_PIDS: pids } = process.env
  if (url === undefined || token === undefined || pids === undefined) return undefined
  const { hostname, port } = new URL(url)
  const server: Server = {
    target: { host: hostname, port: Number(port || 443), token },
    processes: new ServerProcesses(pids.split(',').map(Number)),
    startMs: 0,
    [Symbol.asyncDispose]: () => setTimeout(settleMs),
  }
  return { name: 'REFERENCE', start: async () => server }
}

async function untilReady(child: ChildProcess, dataDir: string, port: number): Promise<void> {
  const deadline = performance.now() + 30_000
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode} before it was ready`)
    if (existsSync(join(dataDir, 'token')) && (await isReady(port))) return
    await setTimeout(2)
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
