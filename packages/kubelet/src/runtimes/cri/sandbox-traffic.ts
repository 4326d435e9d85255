import { readFile } from 'node:fs/promises'
import type { InterfaceStats, TrafficStats } from '../runtime.ts'
import type { CriCalls } from './calls.ts'

/**
 * What has gone through the networks of sandboxes, as the kernel counts it for the network of a process: for runtimes that do not tell, as
 * containerd where sandboxes have no control group of their own. Runtimes tell the process of a sandbox to those who want to know all.
 */
export class SandboxTraffic {
  readonly #calls: Pick<CriCalls, 'podSandboxStatus'>
  /** Of sandboxes, as long as they are there; undefined where it is not told. */
  readonly #pids = new Map<string, number | undefined>()

  constructor(calls: Pick<CriCalls, 'podSandboxStatus'>) {
    this.#calls = calls
  }

  /** Undefined where it cannot be told. The sandbox must have a network of its own. */
  async interfacesOf(sandboxId: string): Promise<readonly InterfaceStats[] | undefined> {
    try {
      const pid = await this.#pidOf(sandboxId)
      if (pid === undefined) return undefined
      // The number is that of another process where the runtime is elsewhere, or the sandbox has just ended.
      const [groups, counted] = await Promise.all([
        readFile(`/proc/${pid}/cgroup`, 'utf8'),
        readFile(`/proc/${pid}/net/dev`, 'utf8'),
      ])
      return groups.includes(sandboxId) ? parseInterfaces(counted) : undefined
    } catch {
      return undefined
    }
  }

  forget(sandboxId: string): void {
    this.#pids.delete(sandboxId)
  }

  async #pidOf(sandboxId: string): Promise<number | undefined> {
    if (this.#pids.has(sandboxId)) return this.#pids.get(sandboxId)
    const { info } = await this.#calls.podSandboxStatus({ podSandboxId: sandboxId, verbose: true })
    const { pid }: { readonly pid?: unknown } = JSON.parse(info.info ?? '{}')
    const known = typeof pid === 'number' && pid > 1 ? pid : undefined
    this.#pids.set(sandboxId, known)
    return known
  }
}

/** Of `/proc/PID/net/dev` (proc(5)), but for the loopback. */
export function parseInterfaces(text: string): readonly InterfaceStats[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', counted] = line.split(':').map((part) => part.trim())
    if (counted === undefined || name === 'lo') return []
    const numbers = counted.split(/\s+/).map(Number)
    return [{ name, received: trafficAt(numbers, 0), sent: trafficAt(numbers, 8) }]
  })
}

function trafficAt(numbers: readonly number[], first: number): TrafficStats {
  const [bytes = 0, packets = 0, errors = 0, dropped = 0] = numbers.slice(first)
  return { bytes, errors, packets, dropped }
}
