import { requestTimeoutMs } from '../connection.ts'
import type { Host } from '../host.ts'
import type { ConnectionFlags } from '../session.ts'

/** Whether a watch that has failed has had the time that `--request-timeout` gives it: that is its end, and no failure. */
export async function isWatchOver(host: Host, flags: ConnectionFlags, begunMs: number): Promise<boolean> {
  const limitMs = requestTimeoutMs(flags.requestTimeout)
  if (limitMs === undefined || host.environment.clock.monotonicMs() - begunMs < limitMs) return false
  if ((flags.v ?? 0) >= 5) await logTimeLimit(host)
  return true
}

/** The log says why a watch has ended; there is nothing else to tell. */
async function logTimeLimit({ stderr, environment }: Host): Promise<void> {
  const { logTime } = await import('../log-exchanges.ts')
  stderr.write(
    `I${logTime(environment.clock.now())} "Unable to decode an event from the watch stream" err="context deadline exceeded (Client.Timeout or context cancellation while reading body)"\n`,
  )
}
