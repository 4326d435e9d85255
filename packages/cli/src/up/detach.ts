import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { makePrivateDirectory } from '@coracle/store'
import { CliError, SilentError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import type { ClusterPlace } from '../local/cluster-place.ts'
import { Progress } from '../output/progress.ts'
import { type Ready, type ReadyFlags, tellReady } from './ready.ts'
import { serverLogPath } from './server-log.ts'

/** Of what a server says that does not start, the last so many bytes are shown. */
const failureBytesMax = 16 * 1024

/**
 * `coracle up --detach`: starts the same command once more in a session of its own, and returns when its server is ready, or
 * has failed: then with what it has said. A Ctrl-C before that stops it in order.
 */
export async function upDetached(
  host: Host,
  args: readonly string[],
  place: ClusterPlace,
  flags: ReadyFlags,
): Promise<void> {
  if (flags.filename.includes('-')) {
    throw new CliError('--detach cannot go on reading standard input: name a file, or apply it afterwards')
  }
  makePrivateDirectory(place.directory)
  const log = serverLogPath(place.directory)
  const logStart = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  const progress = new Progress(host, 'starting the cluster')
  const program = host.startDetached(args, log)
  const ignoreInterrupts = host.onInterrupt(() => {
    progress.say('stopping')
    const process = host.processes.read(program.pid)
    if (process !== undefined) host.processes.signal(process, 'SIGTERM')
  })
  const outcome = await program.outcome.finally(() => {
    progress.end()
    ignoreInterrupts()
  })
  if ('announced' in outcome) {
    tellReady(host, place, outcome.announced as Ready, flags, true)
    return
  }
  const said = readEnd(log, logStart)
  host.stderr.write(said === '' ? `error: the server has ended without a word; its log is ${log}\n` : said)
  throw new SilentError()
}

/** What was added to a file since it had this size, or the end of that. */
function readEnd(path: string, start: number): string {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const from = Math.max(Math.min(start, size), size - failureBytesMax)
  const buffer = Buffer.alloc(size - from)
  const file = openSync(path, 'r')
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from)).toString('utf8')
  } finally {
    closeSync(file)
  }
}
