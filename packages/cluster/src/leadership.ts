import { hostname } from 'node:os'
import { type Client, createLeaderElector, type LeaderElectionOptions } from '@coracle/client'
import { aborted, type Environment, sleep } from '@coracle/environment'
import type { Started } from './component.ts'

/** How soon servers notice that their leader is gone: upstream's times unless given. */
export type LeaderElectionTimes = Pick<LeaderElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>

export interface LeadershipOptions {
  readonly environment: Environment
  /** Holds the Lease. */
  readonly client: Client
  /** The Lease in kube-system that servers compete for. */
  readonly name: string
  readonly times: LeaderElectionTimes | undefined
  /** Starts what only the leader does. */
  readonly start: () => Started
}

/** Wait after what the leader does could not be started, before this server is a candidate again. */
const restartDelayMs = 1000

/**
 * Does something as long as this server leads those that share its store, and again whenever it leads again. Returns what
 * stops that, and gives the lease back.
 */
export function runWhileLeading({ environment, client, name, times, start }: LeadershipOptions): () => Promise<void> {
  const { logger, clock, random } = environment
  const stopping = new AbortController()
  const identity = `${hostname()}_${random.uuid()}`
  const elector = createLeaderElector(client, environment, { namespace: 'kube-system', name, identity, ...times })
  const lead = async (signal: AbortSignal): Promise<void> => {
    logger.info('this server leads', { lease: name })
    const { atWork, stop } = start()
    try {
      // What cannot be at work gives the lease back, for another to try.
      await Promise.race([aborted(signal), atWork.then(() => aborted(signal))])
    } finally {
      await stop({ containers: 'keep' })
    }
    logger.info('this server no longer leads', { lease: name })
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await elector.run(lead, stopping.signal)
      } catch (error) {
        logger.error('leading failed', { lease: name, error: String(error) })
        await sleep(clock, restartDelayMs, stopping.signal).catch(() => {})
      }
    }
  }
  const running = run()
  return async () => {
    stopping.abort(new Error('the server is stopped'))
    await running
  }
}
