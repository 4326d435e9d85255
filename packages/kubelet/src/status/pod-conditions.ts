import {
  type ConditionStatus,
  type ContainerStatus,
  finderOf,
  formatTime,
  isSidecar,
  mayRestartAll,
  type Pod,
  type PodCondition,
  type PodPhase,
} from '@coracle/api'
import type { ResizeProgress } from '../pod/given-resources.ts'

export interface PodConditionsInput {
  readonly pod: Pod
  /** Init and regular containers. */
  readonly statuses: readonly ContainerStatus[]
  readonly phase: PodPhase
  readonly sandboxReady: boolean
  readonly resize: ResizeProgress
  /** Why its node has ended it for the sake of others. Absent: it has not. */
  readonly disruption?: string | undefined
  /** All containers are to go, so that all of the pod starts anew. */
  readonly restartingAll: boolean
  readonly nowMs: number
}

interface Verdict {
  readonly status: ConditionStatus
  readonly reason?: string
  readonly message?: string
}

const yes: Verdict = { status: 'True' }
const no = (reason: string, message?: string): Verdict => ({
  status: 'False',
  reason,
  ...(message === undefined ? {} : { message }),
})

const disruptionTarget = 'DisruptionTarget'
const allContainersRestarting = 'AllContainersRestarting'

/** Conditions the node agent sets; others on the pod belong to someone else and stay as they are. */
const ownTypes: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'PodResizePending',
  'PodResizeInProgress',
  allContainersRestarting,
])

/** The conditions of a pod: foreign ones first, then the node agent's in upstream's order. */
export function podConditions(input: PodConditionsInput): readonly PodCondition[] {
  const present = input.pod.status?.conditions ?? []
  const foreign = present.filter(
    ({ type }) => !ownTypes.has(type) && !(input.disruption !== undefined && type === disruptionTarget),
  )
  const containersReady = containersReadyVerdict(input)
  const verdicts: readonly (readonly [string, Verdict])[] = [
    ...(input.resize.pending === undefined
      ? []
      : [['PodResizePending', { ...yes, reason: 'Deferred', message: input.resize.pending.message }] as const]),
    ...(input.resize.inProgress ? [['PodResizeInProgress', inProgressVerdict(input.resize)] as const] : []),
    ...(input.disruption === undefined
      ? []
      : [[disruptionTarget, { ...yes, reason: 'TerminationByKubelet', message: input.disruption }] as const]),
    ['PodReadyToStartContainers', input.sandboxReady ? yes : { status: 'False' }],
    ['Initialized', initializedVerdict(input)],
    ['Ready', readyVerdict(input.pod, foreign, containersReady)],
    ['ContainersReady', containersReady],
    ['PodScheduled', yes],
    ...(mayRestartAll(input.pod.spec) ? [[allContainersRestarting, restartingAllVerdict(input)] as const] : []),
  ]
  // `concat` makes a list with room for just what is in it, which spreading does not: each pod keeps one.
  return foreign.concat(verdicts.map(([type, verdict]) => condition(type, verdict, input)))
}

const inProgressVerdict = ({ error }: ResizeProgress): Verdict =>
  error === undefined ? yes : { ...yes, reason: 'Error', message: error }

/** The conditions of a pod that the node has not taken on: all others stay as they are. */
export function refusedConditions(pod: Pod, nowMs: number): readonly PodCondition[] {
  const types = ['Ready', 'ContainersReady']
  const others = (pod.status?.conditions ?? []).filter(({ type }) => !types.includes(type))
  return [...others, ...types.map((type) => condition(type, no('PodFailed'), { pod, nowMs }))]
}

function condition(
  type: string,
  verdict: Verdict,
  { pod, nowMs }: Pick<PodConditionsInput, 'pod' | 'nowMs'>,
): PodCondition {
  const before = pod.status?.conditions?.find((candidate) => candidate.type === type)
  const unchanged = before?.status === verdict.status && before.lastTransitionTime !== undefined
  // Upstream says of this one alone not which generation it is about.
  const generation = type === allContainersRestarting ? undefined : pod.metadata.generation
  if (unchanged && before.observedGeneration === generation && saysTheSame(before, verdict)) return before
  return {
    type,
    ...verdict,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime: unchanged ? before.lastTransitionTime : formatTime(nowMs),
  }
}

/** Whether a condition is the verdict's already, with nothing else to it. */
function saysTheSame(before: PodCondition, { reason, message }: Verdict): boolean {
  return before.reason === reason && before.message === message && before.lastProbeTime === undefined
}

function containersReadyVerdict({ pod, statuses, phase }: PodConditionsInput): Verdict {
  const expected = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers].map(
    ({ name }) => name,
  )
  const statusOf = finderOf(statuses, ({ name }) => name)
  const unknown = expected.filter((name) => statusOf(name) === undefined)
  const unready = expected.filter((name) => statusOf(name)?.ready === false)
  if (phase === 'Succeeded' && unknown.length === 0) return no('PodCompleted')
  if (phase === 'Failed') return no('PodFailed')
  return unknown.length + unready.length === 0 ? yes : complaint('ContainersNotReady', { unknown, unready })
}

function complaint(
  reason: string,
  {
    unknown,
    ...others
  }: {
    readonly unknown: readonly string[]
    readonly unready?: readonly string[]
    readonly incomplete?: readonly string[]
  },
): Verdict {
  const parts = Object.entries({ unknown, ...others })
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `containers with ${what} status: [${names.join(' ')}]`)
  return parts.length === 0 ? yes : no(reason, parts.join(', '))
}

function readyVerdict(pod: Pod, foreign: readonly PodCondition[], containersReady: Verdict): Verdict {
  if (containersReady.status !== 'True') return containersReady
  const conditionOf = finderOf(foreign, ({ type }) => type)
  const problems = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = conditionOf(conditionType)
    if (gate === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    if (gate.status === 'True') return []
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`]
  })
  return problems.length === 0 ? yes : no('ReadinessGatesNotReady', problems.join(', '))
}

function initializedVerdict({ pod, statuses, phase }: PodConditionsInput): Verdict {
  const init = pod.spec.initContainers ?? []
  const statusOf = finderOf(statuses, ({ name }) => name)
  const unknown = init.filter(({ name }) => statusOf(name) === undefined).map(({ name }) => name)
  if (phase === 'Succeeded' && unknown.length === 0) return { status: 'True', reason: 'PodCompleted' }
  if (pod.spec.containers.some(({ name }) => hasStarted(statusOf(name)))) return yes
  // Once initialized it stays so, whatever its init containers have to do again.
  if (pod.status?.conditions?.some(({ type, status }) => type === 'Initialized' && status === 'True')) return yes
  const incomplete = init
    .filter((container) => {
      const status = statusOf(container.name)
      return status !== undefined && !(isSidecar(container) ? status.started === true : status.ready)
    })
    .map(({ name }) => name)
  return complaint('ContainersNotInitialized', { unknown, incomplete })
}

function restartingAllVerdict({ phase, restartingAll }: PodConditionsInput): Verdict {
  if (phase === 'Succeeded') return no('PodCompleted')
  if (phase === 'Failed') return no('PodFailed')
  if (!restartingAll) return { status: 'False' }
  return { ...yes, reason: 'RestartAllContainersStarted', message: 'container exited with restart policy rule' }
}

function hasStarted(status: ContainerStatus | undefined): boolean {
  return (
    status?.state?.running !== undefined ||
    status?.state?.terminated !== undefined ||
    status?.lastState?.terminated !== undefined
  )
}
