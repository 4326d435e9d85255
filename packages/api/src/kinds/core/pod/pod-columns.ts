import { humanDuration } from '../../../human-duration.ts'
import { parseTime } from '../../../time.ts'
import { ageColumn, type ColumnSource, column, nameColumn, wideColumn } from '../../columns.ts'
import { isSidecar } from './container.ts'
import type { Pod } from './pod-schema.ts'
import type { ContainerStatus, PodCondition } from './pod-status.ts'

/** The columns that `kubectl get pods` shows (printers/internalversion printPod). */
export const podColumns: readonly ColumnSource<Pod>[] = [
  nameColumn,
  column('Ready', readyText, 'Containers that are ready, of all that are to run.'),
  column('Status', (pod) => summarize(pod).reason, 'What the pod is doing, from its phase and its containers.'),
  column('Restarts', restartsText, 'How often its containers were restarted, and how long ago the last time was.'),
  ageColumn,
  wideColumn('IP', ({ status }) => status?.podIPs?.[0]?.ip || '<none>', { field: 'status.podIP' }),
  wideColumn('Node', ({ spec }) => spec.nodeName || '<none>', { field: 'spec.nodeName' }),
  wideColumn('Nominated Node', ({ status }) => status?.nominatedNodeName || '<none>', {
    field: 'status.nominatedNodeName',
  }),
  wideColumn('Readiness Gates', readinessGates, 'Readiness gates that are open, of all there are.'),
]

function readyText(pod: Pod): string {
  const { ready, total } = summarize(pod)
  return `${ready}/${total}`
}

function restartsText(pod: Pod, nowMs: number): string {
  const { restarts, lastRestartMs } = summarize(pod)
  if (restarts === 0 || Number.isNaN(lastRestartMs)) return String(restarts)
  return `${restarts} (${humanDuration(nowMs - lastRestartMs)} ago)`
}

/** What the Ready, Status and Restarts columns say. */
export interface PodSummary {
  readonly ready: number
  /** Containers that are to run side by side: sidecars among them, other init containers not. */
  readonly total: number
  /** The text of the Status column, such as `Running`, `Init:0/1` or `CrashLoopBackOff`. */
  readonly reason: string
  readonly restarts: number
  /** When a container last ended before it was restarted. NaN where none was. */
  readonly lastRestartMs: number
}

/** Why a pod is gone whose node cannot be reached. */
const nodeLost = 'NodeLost'
const schedulingGated = 'SchedulingGated'

export function summarize(pod: Pod): PodSummary {
  const initial = summarizeInitContainers(pod)
  const total = (pod.spec.containers ?? []).length + sidecarNames(pod).size
  const begun = initial.waitingFor === undefined || hasCondition(pod, 'Initialized')
  const running = begun ? summarizeContainers(pod, initial) : undefined
  return {
    total,
    ready: initial.ready + (running?.ready ?? 0),
    reason: deletionReason(pod) ?? running?.reason ?? initial.waitingFor ?? phaseReason(pod),
    restarts: running?.restarts ?? initial.restarts.count,
    lastRestartMs: running?.lastRestartMs ?? initial.restarts.lastMs,
  }
}

/** The phase, unless something says more. */
function phaseReason(pod: Pod): string {
  const { phase = '', reason, conditions = [] } = pod.status ?? {}
  const gated = conditions.some((each) => each.type === 'PodScheduled' && each.reason === schedulingGated)
  return gated ? schedulingGated : reason || phase
}

/** What a pod that is being deleted is shown as. One that has ended already is shown as it ended. */
function deletionReason(pod: Pod): string | undefined {
  if (pod.metadata.deletionTimestamp === undefined) return undefined
  if (pod.status?.reason === nodeLost) return 'Unknown'
  const phase = pod.status?.phase
  return phase === 'Succeeded' || phase === 'Failed' ? undefined : 'Terminating'
}

const sidecarNames = (pod: Pod): ReadonlySet<string> =>
  new Set((pod.spec.initContainers ?? []).filter(isSidecar).map((each) => each.name))

interface Restarts {
  readonly count: number
  readonly lastMs: number
}

const noRestarts: Restarts = { count: 0, lastMs: Number.NaN }

function addRestarts(before: Restarts, status: ContainerStatus): Restarts {
  const ended = status.lastState?.terminated?.finishedAt
  const endedMs = ended === undefined ? Number.NaN : parseTime(ended)
  return {
    count: before.count + (status.restartCount ?? 0),
    lastMs: endedMs > before.lastMs || Number.isNaN(before.lastMs) ? endedMs : before.lastMs,
  }
}

interface InitSummary {
  readonly ready: number
  /** `Init:…` for the first init container that is not done; undefined where all are. */
  readonly waitingFor: string | undefined
  readonly restarts: Restarts
  readonly sidecarRestarts: Restarts
}

function summarizeInitContainers(pod: Pod): InitSummary {
  const sidecars = sidecarNames(pod)
  let [ready, restarts, sidecarRestarts] = [0, noRestarts, noRestarts]
  for (const [index, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    restarts = addRestarts(restarts, status)
    const isSidecar = sidecars.has(status.name)
    if (isSidecar) sidecarRestarts = addRestarts(sidecarRestarts, status)
    if (status.state?.terminated?.exitCode === 0) continue
    if (isSidecar && status.started === true) {
      if (status.ready) ready += 1
      continue
    }
    const waitingFor = initReason(status) ?? `Init:${index}/${pod.spec.initContainers?.length ?? 0}`
    return { ready, waitingFor, restarts, sidecarRestarts }
  }
  return { ready, waitingFor: undefined, restarts, sidecarRestarts }
}

function initReason({ state }: ContainerStatus): string | undefined {
  if (state?.terminated !== undefined) return `Init:${endReason(state.terminated)}`
  const waiting = state?.waiting?.reason
  return waiting && waiting !== 'PodInitializing' ? `Init:${waiting}` : undefined
}

function endReason(ended: {
  readonly reason?: string | undefined
  readonly signal?: number | undefined
  readonly exitCode: number
}): string {
  if (ended.reason) return ended.reason
  return ended.signal ? `Signal:${ended.signal}` : `ExitCode:${ended.exitCode}`
}

/** Once the init containers are done only restarts of what keeps running are counted. */
function summarizeContainers(pod: Pod, initial: InitSummary): Omit<PodSummary, 'total'> {
  let restarts = initial.sidecarRestarts
  let reason = initial.waitingFor ?? phaseReason(pod)
  let ready = 0
  // From the last to the first: what the first container says counts most.
  for (const status of [...(pod.status?.containerStatuses ?? [])].reverse()) {
    restarts = addRestarts(restarts, status)
    const { waiting, terminated, running } = status.state ?? {}
    if (waiting?.reason) reason = waiting.reason
    else if (terminated !== undefined) reason = endReason(terminated)
    else if (status.ready && running !== undefined) ready += 1
  }
  if (reason === 'Completed' && ready > 0) reason = hasCondition(pod, 'Ready') ? 'Running' : 'NotReady'
  return { ready, reason, restarts: restarts.count, lastRestartMs: restarts.lastMs }
}

/** Whether the first condition of this type is True. */
function hasCondition(pod: Pod, type: string): boolean {
  return findCondition(pod, type)?.status === 'True'
}

const findCondition = (pod: Pod, type: string): PodCondition | undefined =>
  pod.status?.conditions?.find((each) => each.type === type)

function readinessGates(pod: Pod): string {
  const gates = pod.spec.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const open = gates.filter((gate) => hasCondition(pod, gate.conditionType)).length
  return `${open}/${gates.length}`
}
