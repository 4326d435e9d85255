import type { Pod } from '@coracle/api'
import { getCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'
import type { PodReadings } from './readings.ts'

/** For so long after its start the CPU usage of a pod counts only from a whole window after it became ready. */
export const cpuInitializationPeriodMs = 5 * 60_000
/** A pod that is not ready and has become so within this time of its start has never been ready. */
export const initialReadinessDelayMs = 30_000

/** The pods of a workload by what their readings are worth. */
export interface PodGroups {
  /** Pods whose readings count. */
  readonly readyCount: number
  /** They wait, or start: what they use says nothing. */
  readonly unready: readonly string[]
  /** Nothing was read of them. */
  readonly missing: readonly string[]
  /** The readings that count. */
  readonly readings: PodReadings
}

/** Judges pods by their state, and CPU usage by whether they were starting up while it was measured. */
export function groupPods(pods: readonly Pod[], readings: PodReadings, resource: string, nowMs: Time): PodGroups {
  const counting = new Map(readings)
  const unready: string[] = []
  const missing: string[] = []
  let readyCount = 0
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined || pod.status?.phase === 'Failed') {
      counting.delete(name)
      continue
    }
    if (pod.status?.phase === 'Pending') {
      unready.push(name)
      continue
    }
    const reading = readings.get(name)
    if (reading === undefined) missing.push(name)
    else if (resource === 'cpu' && isStarting(pod, reading.atMs, reading.windowMs, nowMs)) unready.push(name)
    else readyCount += 1
  }
  for (const name of unready) counting.delete(name)
  return { readyCount, unready, missing, readings: counting }
}

function isStarting({ status }: Pod, measuredAtMs: Time, windowMs: number, nowMs: Time): boolean {
  const ready = getCondition(status?.conditions, 'Ready')
  const startedAtMs = timeOf(status?.startTime)
  if (ready === undefined || startedAtMs === undefined) return true
  const changedAtMs = timeOf(ready.lastTransitionTime) ?? Number.NEGATIVE_INFINITY
  const isUnready = ready.status === 'False'
  if (startedAtMs + cpuInitializationPeriodMs > nowMs) return isUnready || measuredAtMs < changedAtMs + windowMs
  return isUnready && startedAtMs + initialReadinessDelayMs > changedAtMs
}
