import { type Container, durationText, type Pod, restartsAfter } from '@coracle/api'
import type { ContainerRuntimeStatus } from '../runtimes/runtime.ts'
import { runsOf, type WaitingReason } from '../status/container-statuses.ts'
import { type BackOff, nextBackOff, presumedBackOff, restartAtMs } from './back-off.ts'
import type { PodObservation } from './plan-pod.ts'
import { podText } from './pod-name.ts'
import { initRestartsAfter } from './restart-policy.ts'

/** Whether a container whose latest run is `run` is to run, for the first time or again. */
export function isDue(
  { pod, restarting }: PodObservation,
  container: Container,
  run: ContainerRuntimeStatus | undefined,
): boolean {
  if (run?.state === 'running') return false
  const { ephemeralContainers } = pod.spec
  if (ephemeralContainers?.some(({ name }) => name === container.name) === true) {
    // They run once, whatever comes of it; where the runtime has lost that one, the status still tells of it.
    const status = pod.status?.ephemeralContainerStatuses?.find(({ name }) => name === container.name)
    const { running, terminated } = status?.state ?? {}
    return run?.state !== 'exited' && running === undefined && terminated === undefined
  }
  if (run?.state !== 'exited' || restarting.has(run.id)) return true
  const restarts = pod.spec.initContainers?.includes(container) === true ? initRestartsAfter : restartsAfter
  return restarts(container, pod.spec, run.exitCode ?? 0)
}

export interface Restart {
  readonly atMs: number
  /** What it has to wait for; undefined where it has not. */
  readonly waitsFor: BackOff | undefined
  /** What to remember of it for the next one. */
  readonly backOff: BackOff | undefined
}

/**
 * When a container that has ended starts again. One that was stopped for a failed check is not made to wait for that:
 * what counts is when the run before it ended, as with upstream, where stopping and starting are one step.
 */
export function restartOf(
  { runs, sandboxes, restarting, backOffs, nowMs }: PodObservation,
  name: string,
  run: ContainerRuntimeStatus,
): Restart {
  const previous = runsOf(name, runs).find(({ attempt }) => attempt < run.attempt)
  const ended = restarting.has(run.id) ? previous : run
  // Where the sandbox has gone all of its containers have, which says nothing against any of them.
  const isInPlace = sandboxes.some(({ id, ready }) => ready && id === run.sandboxId)
  const waitsFor = backOffs.get(name) ?? (isInPlace ? presumedBackOff(run, previous) : undefined)
  if (ended === undefined) return { atMs: nowMs, waitsFor, backOff: waitsFor }
  const finishedAtMs = ended.finishedAtMs ?? nowMs
  return {
    atMs: restartAtMs(waitsFor, finishedAtMs),
    waitsFor,
    backOff: nextBackOff(waitsFor, finishedAtMs, nowMs),
  }
}

/** What is said of a container that has to wait for its restart. */
export function crashLoop(pod: Pod, container: Container, backOff: BackOff | undefined): WaitingReason {
  const delay = durationText(backOff?.delayMs ?? 0)
  return {
    reason: 'CrashLoopBackOff',
    message: `back-off ${delay} restarting failed container=${container.name} pod=${podText(pod)}`,
  }
}
