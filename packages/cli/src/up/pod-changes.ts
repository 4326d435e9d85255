import { type ContainerStatus, type Pod, type PodCondition, parseTime } from '@coracle/api'

/** How a line is to be taken: it decides the colour. */
export type Tone = 'plain' | 'good' | 'bad'

/** Something that happened to an object, in a few words. */
export interface Change {
  readonly what: string
  readonly tone: Tone
  /** One of the steps every pod takes on its way: told of one pod, and left out where many are summed up. */
  readonly isStep?: boolean
  /** A container that has crashed, whose log says why. */
  readonly crashed?: string
}

/**
 * What happened to a pod between two states of it that people care about, in the order in which it happens. That containers
 * of an earlier life, before `startedMs`, have ended is no news: they were stopped with it.
 */
export function podChanges(old: Pod, pod: Pod, startedMs = Number.NEGATIVE_INFINITY): readonly Change[] {
  const isOfOldLife = (ended: ContainerStateTerminated | undefined): boolean =>
    timeOf(pod.metadata.creationTimestamp) < startedMs - 1000 && timeOf(ended?.finishedAt) <= startedMs
  const changes = [
    ...scheduling(old, pod),
    ...containerChanges(old, pod, isOfOldLife),
    ...phaseChanges(old, pod),
    ...readiness(old, pod, isOfOldLife),
  ]
  if (old.metadata.deletionTimestamp === undefined && pod.metadata.deletionTimestamp !== undefined) {
    const { deletionGracePeriodSeconds: seconds = 0, finalizers = [] } = pod.metadata
    if (seconds > 0) changes.push(plain(`stopping, within ${seconds}s`))
    // Without finalizers it is gone with the next change.
    else if (finalizers.length > 0) changes.push(plain('stopping at once'))
  }
  return changes
}

function scheduling(old: Pod, pod: Pod): readonly Change[] {
  const node = pod.spec.nodeName ?? ''
  if (node !== '' && (old.spec.nodeName ?? '') === '') return [step(`scheduled to ${node}`)]
  const before = condition(old, 'PodScheduled')
  const now = condition(pod, 'PodScheduled')
  if (now?.status !== 'False' || (before?.status === 'False' && before.message === now.message)) return []
  return [bad(`cannot be scheduled: ${now.message ?? now.reason ?? 'no node fits'}`)]
}

type ContainerStateTerminated = NonNullable<NonNullable<ContainerStatus['lastState']>['terminated']>

type Judge = (ended: ContainerStateTerminated | undefined) => boolean

function containerChanges(old: Pod, pod: Pod, isOfOldLife: Judge): readonly Change[] {
  const before = new Map(statusesOf(old).map((status) => [status.name, status]))
  return statusesOf(pod).flatMap((status) => containerChange(before.get(status.name), status, isOfOldLife))
}

function containerChange(
  old: ContainerStatus | undefined,
  status: ContainerStatus,
  isOfOldLife: Judge,
): readonly Change[] {
  const changes: Change[] = []
  if (status.restartCount > (old?.restartCount ?? 0)) {
    const ended = status.lastState?.terminated
    if (isOfOldLife(ended)) changes.push(step(`container ${status.name} started again`))
    else {
      const after = ended === undefined ? '' : ` after it ended with exit code ${ended.exitCode}`
      const change = bad(`container ${status.name} restarted${after} (${times(status.restartCount)})`)
      changes.push((ended?.exitCode ?? 0) === 0 ? change : { ...change, crashed: status.name })
    }
  }
  const reason = status.state?.waiting?.reason
  if (reason !== undefined && !quietReasons.has(reason) && reason !== old?.state?.waiting?.reason) {
    const message = shortened(status.state?.waiting?.message)
    changes.push(bad(`container ${status.name} waits: ${reason}${message === undefined ? '' : `: ${message}`}`))
  }
  return changes
}

/** Reasons to wait that every container has before its first start. */
const quietReasons = new Set(['', 'ContainerCreating', 'PodInitializing'])

/** The line is about the pod, and names the container: nobody needs to read that again, with a uid. */
const shortened = (message: string | undefined): string | undefined =>
  message?.replace(/ restarting failed container=\S+ pod=\S+$/, '')

const times = (count: number): string => (count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`)

function phaseChanges(old: Pod, pod: Pod): readonly Change[] {
  const phase = pod.status?.phase
  if (phase === old.status?.phase) return []
  // What is stopped on purpose mostly ends with an error, and nobody wants to be warned of that.
  const isStopped = pod.metadata.deletionTimestamp !== undefined && (phase === 'Succeeded' || phase === 'Failed')
  if (isStopped) return [step('ended')]
  switch (phase) {
    case 'Running':
      return [step(pod.status?.podIP === undefined ? 'started' : `started, on ${pod.status.podIP}`)]
    case 'Succeeded':
      return [good('finished')]
    case 'Failed': {
      const { reason, message } = pod.status ?? {}
      return [bad(['failed', reason, message].filter((text) => text !== undefined && text !== '').join(': '))]
    }
    case 'Unknown':
      return [bad('unknown: its node does not report')]
    default:
      return []
  }
}

function readiness(old: Pod, pod: Pod, isOfOldLife: Judge): readonly Change[] {
  const wasReady = condition(old, 'Ready')?.status === 'True'
  const ready = condition(pod, 'Ready')
  if (ready?.status === 'True') return wasReady ? [] : [{ ...good('ready'), isStep: true }]
  // A pod that ends is not ready either, and says so by itself.
  const ends = pod.metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')
  const waits = statusesOf(pod).filter((status) => !status.ready)
  const isAwaited =
    waits.length > 0 && waits.every(({ state, lastState }) => isOfOldLife(state?.terminated ?? lastState?.terminated))
  return wasReady && !ends && !isAwaited
    ? [bad(`no longer ready${ready?.message === undefined ? '' : `: ${ready.message}`}`)]
    : []
}

const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
]

const condition = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((each) => each.type === type)

const timeOf = (time: string | undefined): number => (time === undefined ? Number.NaN : parseTime(time))

const step = (what: string): Change => ({ what, tone: 'plain', isStep: true })
const plain = (what: string): Change => ({ what, tone: 'plain' })
const good = (what: string): Change => ({ what, tone: 'good' })
const bad = (what: string): Change => ({ what, tone: 'bad' })
