import { aborted, type Environment } from '@coracle/environment'
import type { Manager } from './manager.ts'

/**
 * Starts a manager, and stops it in good order when the process is told to end (SIGTERM, SIGINT). Resolves when it has stopped;
 * the process may end then. A second signal ends the process at once.
 */
export async function runUntilSignal(manager: Manager, { logger }: Pick<Environment, 'logger'>): Promise<void> {
  const told = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    // Whichever comes next is not for this function to hear.
    process.off('SIGTERM', stop).off('SIGINT', stop)
    logger.info('stopping', { signal })
    told.abort(new Error(`told to end by ${signal}`))
  }
  process.on('SIGTERM', stop).on('SIGINT', stop)
  try {
    const stopped = aborted(told.signal).then(() => manager.stop())
    // A start that is stopped before the caches are filled is no failure.
    await Promise.race([manager.start().catch((error: unknown) => rethrowUnless(told.signal, error)), stopped])
    logger.info('started', { url: manager.endpoint?.url })
    await stopped
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop)
  }
}

function rethrowUnless(signal: AbortSignal, error: unknown): void {
  if (!signal.aborted) throw error
}
