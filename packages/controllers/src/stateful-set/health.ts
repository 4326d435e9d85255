import type { Pod } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { availableAt, isReady } from '../pods/pod-state.ts'

/** Judges pods of a stateful set at one moment. */
export interface Health {
  isRunningAndReady(pod: Pod): boolean
  /** Ready for long enough. */
  isAvailable(pod: Pod): boolean
  /** Available, and nobody has asked it to go. */
  isHealthy(pod: Pod): boolean
}

export function healthAt(nowMs: Time, minReadySeconds = 0): Health {
  const isRunningAndReady = (pod: Pod) => pod.status?.phase === 'Running' && isReady(pod)
  const isAvailable = (pod: Pod) => isRunningAndReady(pod) && availableAt(pod, minReadySeconds) <= nowMs
  const isHealthy = (pod: Pod) => isAvailable(pod) && !isGoing(pod)
  return { isRunningAndReady, isAvailable, isHealthy }
}

/** Whether somebody has asked a pod to go. */
export const isGoing = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined
