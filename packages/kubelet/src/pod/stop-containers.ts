import { type Container, isSidecar, type ObjectMeta, parseTime } from '@coracle/api'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtimes/runtime.ts'
import { hasOtherImage, runsOf } from '../status/container-statuses.ts'
import type { FailedCheck, PodAction, PodObservation } from './plan-pod.ts'
import { startsOver } from './restart-policy.ts'

/** Containers have at least this long to stop, whatever is asked: upstream's minimumGracePeriodInSeconds. */
export const gracePeriodMinMs = 2_000

/**
 * Stops a pod: regular containers first and together, then sidecars one by one in reverse order. The preStop hooks of
 * sidecars do not wait for their turn (KEP-753).
 */
export function stopPod(
  observation: PodObservation,
  running: readonly ContainerRuntimeStatus[],
  because: string,
): readonly PodAction[] {
  const gracePeriodMs = gracePeriod(observation)
  const now = inTurn(observation, running)
  return running.map((run): PodAction => {
    const stop = { run, gracePeriodMs, message: `Stopping container ${run.name}`, because }
    return now.includes(run) ? { type: 'stop-container', ...stop, restart: false } : { type: 'prepare-stop', ...stop }
  })
}

function inTurn(
  { pod }: PodObservation,
  running: readonly ContainerRuntimeStatus[],
): readonly ContainerRuntimeStatus[] {
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name)
  const regular = running.filter(({ name }) => !sidecars.includes(name))
  if (regular.length > 0) return regular
  const last = sidecars.findLast((name) => running.some((run) => run.name === name))
  return running.filter(({ name }) => name === last)
}

/** Stops containers that fail their checks, or whose image or resources were changed, so that they start anew. */
export function stopUnhealthy(observation: PodObservation): readonly PodAction[] {
  const { pod, runs, unhealthy, resized } = observation
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar)
  return [...sidecars, ...pod.spec.containers].flatMap((container): readonly PodAction[] => {
    const [run] = runsOf(container.name, runs)
    if (run?.state !== 'running') return []
    const failed = unhealthy.get(run.id)
    const changed = hasOtherImage(run, container)
    if (resized?.has(run.id) && !changed) {
      const message = `Container ${container.name} resize requires restart`
      const gracePeriodMs = gracePeriod(observation)
      return [{ type: 'stop-container', run, gracePeriodMs, message, restart: true, because: 'its resources changed' }]
    }
    if (failed === undefined && !changed) return []
    const restart = changed || startsOver(container, pod.spec)
    const what = failed === undefined || changed ? 'definition changed' : `failed ${failed.check} probe`
    const message = sidecars.includes(container)
      ? `Init container ${container.name} ${what}`
      : killing(container, what, restart)
    const gracePeriodMs = gracePeriod(observation, failed)
    return [{ type: 'stop-container', run, gracePeriodMs, message, restart, because: what }]
  })
}

/**
 * Stops containers that outlive their sandbox, such as where what holds its network was killed: they start anew in the next one. Ephemeral
 * ones ran once.
 */
export function stopLeftBehind(
  observation: PodObservation,
  current: PodSandboxStatus | undefined,
): readonly PodAction[] {
  const { pod, runs } = observation
  return runs
    .filter(({ state, sandboxId }) => state === 'running' && sandboxId !== current?.id)
    .map((run): PodAction => {
      const container = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find(
        ({ name }) => name === run.name,
      )
      const restart = container !== undefined && startsOver(container, pod.spec)
      const stop = { run, gracePeriodMs: gracePeriod(observation), message: `Stopping container ${run.name}` }
      return { type: 'stop-container', ...stop, restart, because: 'its sandbox has ended' }
    })
}

function killing({ name }: Container, what: string, restart: boolean): string {
  return `Container ${name} ${what}${restart ? ', will be restarted' : ''}`
}

/** What is left of the time a container has to end. A check may set its own, unless the whole pod is to end. */
function gracePeriod({ pod, nowMs, gone, evicted, deletedForMs }: PodObservation, failed?: FailedCheck): number {
  // It was deleted by force, with a grace period of 0: nobody waits for it any longer. Nor does a node that it fills up.
  if (gone) return gracePeriodMinMs
  const { metadata } = pod
  const specified = Number(failed?.graceSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30) * 1000
  if (evicted !== undefined) return Math.max(gracePeriodMinMs, Math.min(evicted.graceMaxMs ?? 0, specified))
  if (metadata.deletionTimestamp === undefined) return Math.max(gracePeriodMinMs, specified)
  const granted = grantedMs(metadata)
  // Sidecars, and an agent that comes back, get what is left.
  const left = granted - (deletedForMs ?? deletedByTimestampMs(metadata, nowMs))
  return Math.max(gracePeriodMinMs, Math.min(granted, left))
}

const grantedMs = ({ deletionGracePeriodSeconds = 0 }: ObjectMeta): number => deletionGracePeriodSeconds * 1000

/** For how long a pod is being deleted by its timestamp, which is of another's clock, has whole seconds only, and says when the grace is over. */
export const deletedByTimestampMs = (metadata: ObjectMeta, nowMs: number): number =>
  grantedMs(metadata) - (parseTime(metadata.deletionTimestamp ?? '') + 1000 - nowMs)
