import { hasReason, notFound, type Pod, pods } from '@coracle/api'
import { CliError, ExitError, SummaryError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { placeObject } from '../manifests/place-object.ts'
import { type Session, withSession } from '../session.ts'
import { attachTo } from './attach.ts'
import { awaitObject } from './await-object.ts'
import { InterruptedError } from './connect-streams.ts'
import { fieldValidation } from './manifest-command.ts'
import type { RunFlags } from './run.ts'

/** Creates a pod, connects the terminal here to it, and ends with its exit code where it does not start again. */
export async function runAttached(host: Host, made: Pod, flags: RunFlags): Promise<void> {
  await withSession(host, flags, async (session) => {
    const resource = (await session.catalog()).find('pods')
    const pod = await session.client.create<Pod>(pods, placeObject(made, resource, session) as Pod, {
      ...(flags.fieldManager === undefined ? {} : { fieldManager: flags.fieldManager }),
      fieldValidation: fieldValidation[flags.validate],
    })
    try {
      await follow(host, session, pod, flags)
    } finally {
      if (flags.rm === true) await remove(host, session, pod, flags)
    }
  })
}

/** Shows what a pod writes until it ends, or until its user detaches from it, and ends with its exit code where it is not to start again. */
async function follow(host: Host, session: Session, pod: Pod, flags: RunFlags): Promise<void> {
  const [{ name: container = '' } = {}] = pod.spec.containers
  let latest: Pod = pod
  const awaited = { resource: (await session.catalog()).find('pods'), key: keyOf(session, pod) }
  const hasBegun = await awaitObject(host, session, awaited, flags.podRunningTimeout, (object) => {
    if (object === undefined) throw new CliError(`pod ${pod.metadata.name} was deleted before it ran`)
    latest = object as Pod
    return stateOf(latest, container) !== 'waiting'
  })
  if (!hasBegun) throw new CliError(`timed out waiting for the condition: ${whyNot(latest)}`)
  if (stateOf(latest, container) === 'running') {
    await attachTo(host, session, latest, container, flags).catch(async (error: unknown) => {
      if (error instanceof InterruptedError) throw error
      // It may have ended in between: then what it wrote is in its log. So is what can be had where nobody can attach, as with kubectl.
      if (!String(error).includes('container not found')) {
        const why = error instanceof Error ? error.message : String(error)
        host.stderr.write(
          `warning: couldn't attach to pod/${pod.metadata.name}, falling back to streaming logs: ${why}\n`,
        )
      }
      await printLog(host, session, pod)
    })
  } else await printLog(host, session, pod)
  // A container whose input stays open goes on without this client, and as long as it likes.
  const { restartPolicy } = pod.spec
  if (restartPolicy === 'Always' || flags.leaveStdinOpen === true) return
  // As kubectl one that was detached from is waited for, too, and one that starts again when it fails until it does not.
  const hasEnded = await awaitObject(host, session, awaited, flags.podRunningTimeout, (object) => {
    if (object === undefined) throw notFound(pods, '')
    latest = object as Pod
    const phase = latest.status?.phase
    return phase === 'Succeeded' || (phase === 'Failed' && restartPolicy === 'Never')
  })
  if (!hasEnded) throw new CliError('timed out waiting for the condition')
  if (latest.status?.phase === 'Failed') throw exitOf(latest)
}

/** How a command ends whose pod has failed: with the exit code of its container. */
function exitOf({ metadata, status }: Pod): Error {
  const pod = `pod ${metadata.namespace}/${metadata.name}`
  const { exitCode = 0, reason = '', message = '' } = status?.containerStatuses?.[0]?.state?.terminated ?? {}
  if (exitCode === 0) return new CliError(`${pod} failed with unknown exit code`)
  const last = message === '' ? '' : `\n${message.replace(/\n$/, '')}`
  return new ExitError(exitCode, new SummaryError(`${pod} terminated (${reason})${last}`))
}

function stateOf({ status }: Pod, container: string): 'waiting' | 'running' | 'ended' {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return 'ended'
  const state = status?.containerStatuses?.find(({ name }) => name === container)?.state
  if (state?.terminated !== undefined) return 'ended'
  return state?.running === undefined ? 'waiting' : 'running'
}

function whyNot({ status }: Pod): string {
  const waiting = status?.containerStatuses?.[0]?.state?.waiting
  return waiting?.message ?? waiting?.reason ?? status?.conditions?.find(({ message }) => message)?.message ?? 'Pending'
}

async function printLog(host: Host, session: Session, pod: Pod): Promise<void> {
  const pieces = await session.client.stream(pods, keyOf(session, pod), 'log', {})
  for await (const piece of pieces) {
    host.stdout.write(piece)
    await host.stdout.drained()
  }
}

async function remove(host: Host, session: Session, pod: Pod, flags: RunFlags): Promise<void> {
  try {
    await session.client.delete(pods, keyOf(session, pod))
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
  const { name, namespace } = pod.metadata
  if (flags.quiet !== true) host.stdout.write(`pod "${name}" deleted from ${namespace} namespace\n`)
}

function keyOf({ namespace: own }: Session, { metadata: { name = '', namespace = own } }: Pod) {
  return { name, namespace }
}
