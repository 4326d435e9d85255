import type { Pod } from '@coracle/api'
import { execInPod } from '@coracle/client/streaming'
import { CliError, ExitError, UsageError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { hasFiles, isOneFile, loadReadable, type ManifestFlags } from '../manifests/load-manifests.ts'
import { chooseContainer } from '../resources/choose-container.ts'
import { findPod, type PodWait, podOf } from '../resources/find-pod.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { connectStreams, type StreamFlags } from './connect-streams.ts'
import { refuseConnected } from './connection-refusals.ts'
import { placeManifest } from './manifest-command.ts'

export interface ExecFlags extends ConnectionFlags, ManifestFlags, StreamFlags, PodWait {
  readonly container?: string
}

/** What stands after the flags of `exec`. */
export interface ExecWords {
  readonly args: readonly string[]
  /** How many of them stand before `--`; undefined without one. */
  readonly beforeDash: number | undefined
}

/** `coracle exec POD -- COMMAND ARG…`, `coracle exec TYPE/NAME -- …`, `coracle exec -f FILE -- …` */
export async function exec(host: Host, { args, beforeDash }: ExecWords, flags: ExecFlags): Promise<void> {
  const isFile = hasFiles(flags)
  if (beforeDash === undefined && args.length > (isFile ? 0 : 1)) {
    throw new UsageError('exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead')
  }
  if (isFile && beforeDash === 1) {
    throw new CliError('resource/name arguments cannot be provided when a path is specified')
  }
  const [target, command] = isFile ? [undefined, args] : [args[0], args.slice(1)]
  const isNothingNamed = (target === undefined || beforeDash === 0) && !isFile
  const lacking = isNothingNamed
    ? 'pod, type/name or --filename must be specified'
    : command.length === 0
      ? 'you must specify at least one command for the container'
      : undefined
  if (lacking !== undefined) await refuseConnected(host, flags, new CliError(lacking))
  await withSession(host, flags, async (session) => {
    const pod =
      target === undefined ? await podOfFile(host, session, flags) : (await findPod(host, session, target, flags)).pod
    const container = containerFor(host, pod, flags)
    const code = await connectStreams(host, flags, (request) =>
      execInPod(session.client, host.environment.clock, podKey(session, pod), { ...request, container, command }),
    )
    if (code === 0) return
    host.stderr.write(`command terminated with exit code ${code}\n`)
    throw new ExitError(code)
  })
}

/** What names a pod. */
export function podKey({ namespace: own }: Session, { metadata: { name = '', namespace = own } }: Pod) {
  return { name, namespace }
}

/** The container that is meant; says so where it was not named. Throws a CliError for a pod that has ended. */
export function containerFor(
  host: Host,
  pod: Pod,
  { container: wanted, quiet }: { readonly container?: string; readonly quiet?: boolean },
): string {
  const phase = pod.status?.phase
  if (phase === 'Succeeded' || phase === 'Failed') {
    throw new CliError(`cannot exec into a container in a completed pod; current phase is ${phase}`)
  }
  const { container, note } = chooseContainer(pod, wanted)
  if (note !== undefined && quiet !== true) host.stderr.write(`${note}\n`)
  return container
}

/** kubectl's words for files that do not have one object, and for what is read from standard input, which may have several. */
const severalObjects = 'cannot exec into multiple objects at a time'

/** The pod of an object as its file has it: as with kubectl, the object itself need not be on the server. */
async function podOfFile(host: Host, session: Session, flags: ExecFlags): Promise<Pod> {
  const { entries } = await loadReadable(host, flags, { decoding: 'typed' })
  // A list counts as what it is, whatever its items are.
  if (entries.some(({ list }) => list !== undefined)) throw new CliError(severalObjects)
  const manifests = entries.map((entry) => {
    if ('failure' in entry) throw entry.failure
    return entry
  })
  const [placed, ...more] = await Promise.all(manifests.map((manifest) => placeManifest(session, manifest)))
  if (placed === undefined || more.length > 0 || !(await isOneFile(host, flags))) throw new CliError(severalObjects)
  return (await podOf(host, session, placed.object, flags)).pod
}
