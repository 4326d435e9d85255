import { ApiError, goTimeFault, hasReason, type Pod, pods } from '@coracle/api'
import { parseDuration } from '@coracle/environment'
import { CliError, UsageError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { prefixLines } from '../output/prefix-lines.ts'
import { allContainers, chooseContainerForLogs, choosePod } from '../resources/choose-container.ts'
import { listAll } from '../resources/fetch.ts'
import { findNamed, type PodWait, typeText, whyNoPods } from '../resources/find-pod.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'

export interface LogFlags extends ConnectionFlags, PodWait {
  readonly container?: string
  readonly allContainers?: boolean
  /** Of an object that has pods: all of them, and not only the one with most to say. */
  readonly allPods?: boolean
  readonly selector?: string
  readonly prefix?: boolean
  readonly follow?: boolean
  readonly previous?: boolean
  readonly tail?: number
  readonly since?: string
  readonly sinceTime?: string
  readonly timestamps?: boolean
  readonly limitBytes?: number
  readonly maxLogRequests: number
  readonly ignoreErrors?: boolean
  /** The server takes any certificate for the node agent's. */
  readonly insecureSkipTlsVerifyBackend?: boolean
}

/** Lines of each pod that a selector finds, unless told otherwise. */
const selectedTail = 10

/** A container whose log is read. */
interface Source {
  readonly pod: Pod
  readonly container: string
}

/** `coracle logs POD`, `coracle logs TYPE/NAME`, `coracle logs -l SELECTOR` */
export async function logs(host: Host, args: readonly string[], given: LogFlags): Promise<void> {
  const { target, flags } = checkArguments(args, given)
  const query = logQuery(flags)
  await withSession(host, flags, async (session) => {
    const found = await findPods(host, session, target, flags).catch((error: unknown) => {
      // What is no pod is told later than flags that contradict each other.
      if (error instanceof CliError && !error.message.startsWith('error from server')) checkFlags(args, given)
      throw error
    })
    checkFlags(args, given)
    const sources = found.flatMap((pod) => sourcesOf(host, pod, flags))
    const isPrefixed = flags.prefix === true || flags.allPods === true
    const prefixOf = ({ pod, container }: Source) => (isPrefixed ? `[pod/${pod.metadata.name}/${container}] ` : '')
    if (flags.follow === true && sources.length > 1) {
      if (sources.length > flags.maxLogRequests) {
        throw new CliError(
          `you are attempting to follow ${sources.length} log streams, but maximum allowed concurrency is ${flags.maxLogRequests}, use --max-log-requests to increase the limit`,
        )
      }
      // What comes of one at a time may end within a line, where another would go on.
      await Promise.all(sources.map((source) => print(host, session, source, query, prefixOf(source), flags)))
    } else {
      for (const source of sources) {
        await print(host, session, source, query, isPrefixed ? prefixOf(source) : undefined, flags)
      }
    }
  })
}

function checkArguments(args: readonly string[], flags: LogFlags): { target: string | undefined; flags: LogFlags } {
  const [target, container, ...more] = args
  if (more.length > 0 || (target === undefined && flags.selector === undefined)) {
    throw new UsageError(
      "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command",
    )
  }
  if (target !== undefined && flags.selector !== undefined) {
    throw new UsageError('only a selector (-l) or a POD name is allowed')
  }
  const tail = flags.tail ?? (flags.selector === undefined ? undefined : selectedTail)
  return {
    target,
    flags: {
      ...flags,
      ...(container === undefined ? {} : { container }),
      ...(tail === undefined ? {} : { tail }),
    },
  }
}

/** The query of a request for a log. Throws a CliError, in Go's words, on a time that is none. */
export function logQuery(flags: LogFlags): Readonly<Record<string, string>> {
  const { tail, since, sinceTime, limitBytes } = flags
  const sinceMs = since === undefined ? 0 : parseDuration(since)
  const fault = sinceTime === undefined ? undefined : goTimeFault(sinceTime)
  if (fault !== undefined) throw new CliError(fault)
  const query: Record<string, string> = {}
  if (flags.follow === true) query.follow = 'true'
  if (flags.previous === true) query.previous = 'true'
  if (flags.timestamps === true) query.timestamps = 'true'
  if (flags.insecureSkipTlsVerifyBackend === true) query.insecureSkipTLSVerifyBackend = 'true'
  if (tail !== undefined && tail >= 0) query.tailLines = String(tail)
  if (sinceMs > 0) query.sinceSeconds = String(Math.round(sinceMs / 1000))
  if (sinceTime !== undefined) query.sinceTime = sinceTime
  if (limitBytes !== undefined && limitBytes > 0) query.limitBytes = String(limitBytes)
  return query
}

/** Throws a CliError for flags that contradict each other and for amounts that are none. kubectl looks at these once it has the pods. */
function checkFlags([, inline]: readonly string[], flags: LogFlags): void {
  const { tail, since, sinceTime, limitBytes, allContainers } = flags
  const sinceMs = since === undefined ? 0 : parseDuration(since)
  if (sinceTime !== undefined && sinceMs !== 0) {
    throw new CliError('at most one of `sinceTime` or `sinceSeconds` may be specified')
  }
  const container = inline ?? flags.container
  if (allContainers === true && container !== undefined) {
    throw new CliError(`--all-containers=true should not be specified with container name ${container}`)
  }
  if (inline !== undefined && flags.container !== undefined) {
    throw new CliError('only one of -c or an inline [CONTAINER] arg is allowed')
  }
  if (limitBytes !== undefined && limitBytes < 0) throw new CliError('--limit-bytes must be greater than 0')
  if (sinceMs < 0) throw new CliError('--since must be greater than 0')
  if (tail !== undefined && tail < -1) throw new CliError('--tail must be greater than or equal to -1')
}

async function findPods(
  host: Host,
  session: Session,
  target: string | undefined,
  flags: LogFlags,
): Promise<readonly Pod[]> {
  const { namespace, client } = session
  if (target === undefined) {
    const { selector: labelSelector = '' } = flags
    const found = await listAll(client, pods, { namespace, labelSelector })
    if (found.length === 0) host.stderr.write(`No resources found in ${namespace} namespace.\n`)
    return found as readonly Pod[]
  }
  try {
    return await findTarget(host, session, target, flags)
  } catch (error) {
    throw withNamespace(error, namespace)
  }
}

/** A refusal that says where was looked: the same name may stand in another namespace. */
function withNamespace(error: unknown, namespace: string): unknown {
  if (!(error instanceof ApiError) || !hasReason(error, 'NotFound')) return error
  return new CliError(`error from server (NotFound): ${error.message} in namespace "${namespace}"`)
}

async function findTarget(host: Host, session: Session, target: string, flags: LogFlags): Promise<readonly Pod[]> {
  const { owner, pods: found } = await findNamed(host, session, target, flags)
  if (found === undefined) throw new CliError(`cannot get the logs from ${typeText(owner)}: ${whyNoPods(owner)}`)
  if (owner.kind === 'Pod' || flags.allPods === true) return found
  const pod = choosePod(found)
  if (pod === undefined) return []
  if (found.length > 1) host.stderr.write(`Found ${found.length} pods, using pod/${pod.metadata.name}\n`)
  return [pod]
}

function sourcesOf(host: Host, pod: Pod, flags: LogFlags): readonly Source[] {
  if (flags.allContainers === true) return allContainers(pod).map((container) => ({ pod, container }))
  const { container, note, missing } = chooseContainerForLogs(pod, flags.container)
  if (missing !== undefined) host.stderr.write(`${missing}\n`)
  if (note !== undefined && flags.allPods !== true) host.stderr.write(`${note}\n`)
  return [{ pod, container }]
}

/** Prints a log as it comes, or line by line with something before each. */
async function print(
  host: Host,
  { client, namespace: ownNamespace }: Session,
  { pod, container }: Source,
  query: Readonly<Record<string, string>>,
  linePrefix: string | undefined,
  { ignoreErrors }: LogFlags,
): Promise<void> {
  const { name = '', namespace = ownNamespace } = pod.metadata
  try {
    const stream = await client.stream(pods, { name, namespace }, 'log', { ...query, container })
    for await (const chunk of linePrefix === undefined ? stream : prefixLines(stream, linePrefix)) {
      host.stdout.write(chunk)
      await host.stdout.drained()
    }
  } catch (error) {
    if (ignoreErrors !== true) throw error
    // Between the lines of other logs it is told as one of them.
    host.stdout.write(`error: ${error instanceof Error ? error.message : error}\n`)
  }
}
