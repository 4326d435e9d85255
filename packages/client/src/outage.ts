import type { Clock } from '@coracle/environment'
import type { Client } from './client.ts'

/**
 * What the reflectors of one client know in common of an outage: the first that finds the server back tells those that wait for their
 * next try. So they are behind together, and a controller does not go on for half a minute by news of its pods and none of their owners.
 */
export class Outage {
  readonly #waiting = new Set<() => void>()

  /** Resolves to `late` after `delayMs`, or when the signal is aborted, and to `over` as soon as somebody says that it is over. */
  wait(clock: Clock, delayMs: number, signal: AbortSignal): Promise<'late' | 'over'> {
    return new Promise((resolve) => {
      const end = (how: 'late' | 'over') => {
        timer.cancel()
        this.#waiting.delete(over)
        signal.removeEventListener('abort', late)
        resolve(how)
      }
      const late = () => end('late')
      const over = () => end('over')
      const timer = clock.setTimer(delayMs, late)
      this.#waiting.add(over)
      if (signal.aborted) late()
      else signal.addEventListener('abort', late, { once: true })
    })
  }

  /** The server answers again. */
  end(): void {
    for (const over of [...this.#waiting]) over()
  }
}

const outages = new WeakMap<Client, Outage>()

/** The one that all reflectors of a client share. */
export function outageOf(client: Client): Outage {
  const known = outages.get(client) ?? new Outage()
  outages.set(client, known)
  return known
}
