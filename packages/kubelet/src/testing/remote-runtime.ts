import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { DrivenRuntime } from './driven-runtime.ts'

const server = fileURLToPath(new URL('./runtime-server.ts', import.meta.url))

/**
 * Where Node keeps what it has compiled of the sources, for the next one: one starts in a third of the time. Each user has a place of their own, that
 * others may not write to.
 */
export function keptCodeOf({ uid, gid }: { readonly uid?: number; readonly gid?: number }): string {
  const caches = join(tmpdir(), 'node-compile-cache')
  mkdirSync(caches, { recursive: true })
  const path = join(caches, `user-${uid ?? 'self'}`)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if (uid !== undefined) chownSync(path, uid, gid ?? uid)
  return path
}

export interface RemoteRuntime {
  readonly runtime: DrivenRuntime
  /** Ends its process on the spot. */
  readonly kill: () => Promise<void>
}

/** A runtime in a process of its own, as another user where one is given. */
export function remoteRuntime(
  dataDirectory: string,
  user: { readonly uid?: number; readonly gid?: number },
): RemoteRuntime {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [server, dataDirectory], {
    ...user,
    cwd: '/',
    env: { PATH, HOME: dataDirectory, NODE_COMPILE_CACHE: keptCodeOf(user) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { call, result, error } = JSON.parse(line)
    const { resolve, reject } = waiting.get(call) ?? Promise.withResolvers()
    if (error === undefined) resolve(result)
    else reject(new Error(error))
  })
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the process of the runtime has ended'))
  })
  const ask = (name: string, args: readonly unknown[]): Promise<unknown> => {
    const answer = Promise.withResolvers<unknown>()
    child.stdin.write(`${JSON.stringify({ call: waiting.size, name, args })}\n`)
    waiting.set(waiting.size, answer)
    return answer.promise
  }
  return {
    runtime: new Proxy({} as DrivenRuntime, {
      // What has `then` would be waited for.
      get: (_, name) => (name === 'then' ? undefined : (...args: readonly unknown[]) => ask(String(name), args)),
    }),
    kill: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}
