import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import type { HostProcess } from '../host-processes.ts'
import { type ClusterPlace, type PlaceFlags, placeFlagText, placesHere, placeToFind } from '../local/cluster-place.ts'
import { runningServer } from '../local/running-server.ts'
import { readServerRecord } from '../local/server-record.ts'
import { Progress } from '../output/progress.ts'
import { pause } from '../pause.ts'

export interface DownFlags extends PlaceFlags {
  /** Every cluster of this directory. */
  readonly all?: boolean
  /** How long to wait, in milliseconds. */
  readonly timeout: number
}

/** How soon it is noticed that a server has ended. */
const checkEveryMs = 50

/** `coracle down`: stops a server of this machine in order, its pods first, and returns when it has ended. */
export async function down(host: Host, flags: DownFlags): Promise<void> {
  if (flags.all === true && (flags.name !== undefined || flags.dataDir !== undefined)) {
    throw new CliError('--all stops every cluster of this directory: give it without --name and --data-dir')
  }
  const places = flags.all === true ? placesHere(host) : [placeToFind(host, flags)]
  for (const place of places) await stopServer(host, place, flags.timeout)
}

async function stopServer(host: Host, place: ClusterPlace, timeoutMs: number): Promise<void> {
  const { stdout, processes, environment } = host
  const server = serverToStop(host, place)
  if (server === undefined) {
    stdout.write(`nothing runs in ${place.shown}\n`)
    return
  }
  const startedMs = environment.clock.monotonicMs()
  const progress = new Progress(host, `stopping ${place.name}`)
  try {
    signal(host, server)
    while (processes.isAlive(server)) {
      if (environment.clock.monotonicMs() - startedMs >= timeoutMs) {
        throw new CliError(
          `${place.name} has not stopped within ${timeoutMs / 1000} s; process ${server.pid} goes on stopping: ` +
            `wait with \`coracle down${placeFlagText(place)}\`, or end it at once with \`kill -KILL ${server.pid}\` (its pods run on then)`,
        )
      }
      await pause(host, checkEveryMs)
    }
  } finally {
    progress.end()
  }
  stdout.write(`${place.name} stopped after ${Math.round(environment.clock.monotonicMs() - startedMs)} ms\n`)
}

/** The server's process; undefined where none runs. Throws a CliError where it is not ours to stop. */
function serverToStop(host: Host, place: ClusterPlace): HostProcess | undefined {
  const server = runningServer(place, host.processes)
  if (server === undefined) return undefined
  if (server.type === 'elsewhere') {
    throw new CliError(`${place.shown} is in use by process ${server.pid} of host ${server.host}: stop it there`)
  }
  if (server.type === 'unknown') {
    throw new CliError(`${place.shown} is in use, and by whom cannot be told: try again in a moment`)
  }
  const { process } = server
  // Others hold a data directory as well: a test, or a program with a cluster in it. They are not to end.
  if (readServerRecord(place.directory)?.pid !== process.pid) {
    throw new CliError(
      `${place.shown} is in use by process ${process.pid}, which is no \`coracle up\` that is ready: ` +
        'try again in a moment, or stop that process yourself',
    )
  }
  return process
}

function signal({ processes }: Host, server: HostProcess): void {
  try {
    processes.signal(server, 'SIGTERM')
  } catch (error) {
    throw new CliError(
      `process ${server.pid} cannot be stopped by this user: ${error instanceof Error ? error.message : error}`,
    )
  }
}
