import type { Pod } from '@coracle/api'
import { attachToPod, type CommandRequest } from '@coracle/client/streaming'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type ContainerChoice, chooseContainer } from '../resources/choose-container.ts'
import { findPod, type PodWait } from '../resources/find-pod.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { connectStreams, type StreamFlags } from './connect-streams.ts'
import { detachKeysDefault, detachSequence, untilDetached } from './detach-keys.ts'
import { podKey } from './exec.ts'

export interface AttachFlags extends ConnectionFlags, StreamFlags, PodWait {
  readonly container?: string
}

/** `coracle attach POD`, `coracle attach TYPE/NAME`, `coracle attach TYPE NAME` */
export async function attach(host: Host, args: readonly string[], flags: AttachFlags): Promise<void> {
  const [first, second, ...more] = args
  if (first === undefined) throw new CliError('at least 1 argument is required for attach')
  if (more.length > 0)
    throw new CliError(
      `expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw ${args.length}: [${args.join(' ')}]`,
    )
  await withSession(host, flags, async (session) => {
    const { pod } = await (second === undefined
      ? findPod(host, session, first, flags)
      : findPod(host, session, second, flags, first))
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || phase === 'Failed') {
      throw new CliError(`cannot attach a container in a completed pod; current phase is ${phase}`)
    }
    const { container, note } = containerOf(pod, flags.container)
    if (note !== undefined && flags.quiet !== true) host.stderr.write(`${note}\n`)
    await attachTo(host, session, pod, container, flags)
  })
}

function containerOf(pod: Pod, wanted: string | undefined): ContainerChoice {
  try {
    return chooseContainer(pod, wanted)
  } catch (error) {
    throw new CliError(`cannot attach to the container: ${error instanceof Error ? error.message : error}`)
  }
}

/** Connects the terminal here to a container of a pod until it ends, or the user types the keys that detach from it: then it runs on. */
export async function attachTo(
  host: Host,
  session: Session,
  pod: Pod,
  container: string,
  given: StreamFlags,
): Promise<void> {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec
  const all = [...containers, ...initContainers, ...ephemeralContainers]
  const hasTerminal = all.find(({ name }) => name === container)?.tty === true
  if (given.tty === true && !hasTerminal && given.quiet !== true) {
    host.stderr.write(`error: Unable to use a TTY - container ${container} did not allocate one\n`)
  }
  const flags = { ...given, tty: hasTerminal && given.stdin === true }
  const attach = (streams: CommandRequest) =>
    attachToPod(session.client, host.environment.clock, podKey(session, pod), { ...streams, container })
  const wasRaw = await connectStreams(
    host,
    flags,
    async (request, isRaw) => {
      await (isRaw ? untilKeys(request, given.detachKeys, attach) : attach(request))
      return isRaw
    },
    given.quiet === true ? '' : recordedText,
  )
  if (given.quiet !== true && wasRaw) host.stdout.write(reattachText(session, pod, container))
}

const recordedText =
  "All commands and output from this session will be recorded in container logs, including credentials and sensitive information passed through the command prompt.\nIf you don't see a command prompt, try pressing enter.\n"

/** Attaches until the keys are typed. The connection is left then, and the container runs on. */
async function untilKeys(
  request: CommandRequest,
  keys: string | undefined,
  attach: (request: CommandRequest) => Promise<void>,
): Promise<void> {
  const sequence = detachSequence(keys === undefined || keys === '' ? detachKeysDefault : keys)
  const detached = new AbortController()
  const stdin = request.stdin?.pipe(untilDetached(sequence, () => detached.abort()))
  const signals = request.signal === undefined ? [] : [request.signal]
  try {
    await attach({
      ...request,
      ...(stdin === undefined ? {} : { stdin }),
      signal: AbortSignal.any([...signals, detached.signal]),
    })
  } catch (error) {
    if (!detached.signal.aborted) throw error
  }
}

/** How to go on after a session. */
function reattachText(session: Session, pod: Pod, container: string): string {
  const { name, namespace } = podKey(session, pod)
  const command = `coracle attach ${name} -c ${container} -n ${namespace} -i -t`
  if (pod.spec.ephemeralContainers?.some((each) => each.name === container) === true) {
    return `Session ended, the ephemeral container will not be restarted but may be reattached using '${command}' if it is still running\n`
  }
  return `Session ended, resume using '${command}' command\n`
}
