import { hasReason } from '@coracle/api'
import { type Environment, sleep } from '@coracle/environment'

/** How often `retryOnConflict` tries, the first time included (client-go's DefaultRetry). */
export const conflictTriesMax = 5

const firstWaitMs = 10

/**
 * Runs `write` again, after about 10 ms, while the server refuses it because the object has changed since it was read.
 * `write` must read the object anew each time. Rejects with the last Conflict after `conflictTriesMax` tries, and with
 * any other error at once.
 */
export async function retryOnConflict<T>(
  write: () => Promise<T>,
  { clock, random }: Pick<Environment, 'clock' | 'random'>,
  signal?: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write()
    } catch (error) {
      if (!hasReason(error, 'Conflict') || tries >= conflictTriesMax) throw error
      await sleep(clock, firstWaitMs * (1 + 0.1 * random.next()), signal)
    }
  }
}
