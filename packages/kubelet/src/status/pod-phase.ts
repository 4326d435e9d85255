import {
  type Container,
  type ContainerStatus,
  isSidecar,
  type PodPhase,
  type PodSpec,
  restartsAfter,
} from '@coracle/api'
import { initRestartsAfter } from '../pod/restart-policy.ts'
import { restartingAll } from './container-statuses.ts'

/** What of a pod its container statuses do not tell. */
export interface PhaseCircumstances {
  readonly terminal: boolean
  readonly initialized: boolean
  readonly restarting: ReadonlySet<string>
}

/**
 * The phase that follows from the statuses of a pod's containers, by the rules of upstream's kubelet.
 * `terminal`: the pod is being stopped for good, so nothing will be restarted. `initialized`: a regular container has begun in
 * the present sandbox. `restarting`: containers that will be restarted, however they ended.
 */
export function podPhase(
  spec: PodSpec,
  statuses: readonly ContainerStatus[],
  { terminal, initialized, restarting }: PhaseCircumstances,
): PodPhase {
  const byName = new Map(statuses.map((status) => [status.name, status]))
  const init = spec.initContainers ?? []
  const regular = countRegular(spec, byName, restarting)

  const ordinary = init
    .filter((container) => !isSidecar(container))
    .map((container) => initProgress(container, spec, byName, restarting))
  if (ordinary.includes('failed')) return 'Failed'
  const sidecars = countSidecars(init, byName)
  if (ordinary.includes('pending') || (sidecars.pending > 0 && !initialized)) return 'Pending'
  if (regular.waiting + sidecars.waiting > 0) return 'Pending'

  const running = regular.running + sidecars.running
  if (regular.unknown + sidecars.unknown > 0) return 'Pending'
  if (running > 0) return 'Running'
  if (regular.stopped === 0) return 'Pending'
  if (!terminal && regular.restartable > 0) return 'Running'
  return regular.succeeded === regular.stopped ? 'Succeeded' : 'Failed'
}

type InitProgress = 'pending' | 'done' | 'failed' | 'retried'

function initProgress(
  container: Container,
  spec: PodSpec,
  byName: ReadonlyMap<string, ContainerStatus>,
  restarting: ReadonlySet<string>,
): InitProgress {
  const status = byName.get(container.name)
  const ended =
    status?.state?.terminated ?? (status?.state?.waiting === undefined ? undefined : status.lastState?.terminated)
  if (ended === undefined) return 'pending'
  if (ended.exitCode === 0) return 'done'
  if (restarting.has(container.name) || ended.reason === restartingAll) return 'retried'
  return initRestartsAfter(container, spec, ended.exitCode) ? 'retried' : 'failed'
}

function countSidecars(init: readonly Container[], byName: ReadonlyMap<string, ContainerStatus>) {
  const count = { pending: 0, waiting: 0, running: 0, unknown: 0 }
  for (const container of init.filter(isSidecar)) {
    const status = byName.get(container.name)
    if (status === undefined) count.unknown += 1
    else if (status.state?.running !== undefined) {
      count.running += 1
      if (status.started !== true) count.pending += 1
    } else if (status.state?.terminated === undefined && status.lastState?.terminated === undefined) {
      count.pending += 1
      count.waiting += 1
    }
  }
  return count
}

function countRegular(spec: PodSpec, byName: ReadonlyMap<string, ContainerStatus>, restarting: ReadonlySet<string>) {
  const count = { running: 0, waiting: 0, stopped: 0, restartable: 0, succeeded: 0, unknown: 0 }
  for (const container of spec.containers) {
    const status = byName.get(container.name)
    const ended = status?.state?.terminated ?? status?.lastState?.terminated
    if (status === undefined) count.unknown += 1
    else if (status.state?.running !== undefined) count.running += 1
    else if (ended === undefined) count.waiting += 1
    else {
      count.stopped += 1
      const again = restarting.has(container.name) || ended.reason === restartingAll
      if (again || restartsAfter(container, spec, ended.exitCode)) count.restartable += 1
      if (status.state?.terminated?.exitCode === 0) count.succeeded += 1
    }
  }
  return count
}
