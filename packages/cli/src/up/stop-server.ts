import type { Cluster, DataDirectoryLostError } from '@coracle/cluster'
import type { Host } from '../host.ts'
import { Progress } from '../output/progress.ts'
import type { Activity } from './activity.ts'
import { podsText } from './pods-text.ts'
import type { Reporter } from './reporter.ts'

/** A server that runs, and where it is told what becomes of it. */
export interface RunningServer {
  readonly host: Host
  readonly cluster: Cluster
  readonly activity: Activity
  readonly reporter: Reporter
}

/** Stops a server in order, and tells how far it is. Its pods are stopped with it, or run on. */
export async function stopServer(
  { host, cluster, activity, reporter }: RunningServer,
  podsThen: 'stop' | 'run-on',
): Promise<void> {
  const { clock } = cluster.environment
  const startedMs = clock.monotonicMs()
  const keepsPods = podsThen === 'run-on'
  const pods = keepsPods ? 0 : activity.livePods
  reporter.flush()
  reporter.note(
    pods === 0
      ? `stopping${keepsPods ? ', and pods run on' : ''}`
      : `stopping ${podsText(pods)} (Ctrl-C again: at once)`,
  )
  reporter.end()
  const progress = new Progress(host, pods === 0 ? 'stopping' : `stopping ${podsText(pods)}`)
  try {
    await cluster.stop({ containers: keepsPods ? 'keep' : 'terminate' })
    reporter.note(`stopped after ${Math.round(clock.monotonicMs() - startedMs)} ms`)
  } finally {
    progress.end()
    await activity.stop()
    reporter.flush()
  }
}

/** Stops a server whose data directory is lost, and ends the process with that error. Its pods are stopped: no later start would know of them. */
export async function stopWithoutDirectory(server: RunningServer, loss: DataDirectoryLostError): Promise<void> {
  // What cannot be written any more fails, which the loss explains.
  await stopServer(server, 'stop').catch(() => {})
  server.host.stderr.write(`error: ${loss.message}\n`)
  server.host.exit(1)
}
