import type { Pod, StatefulSet } from '@coracle/api'

/** The label that names a pod among those of its stateful set, for Services over one pod. */
export const podNameLabel = 'statefulset.kubernetes.io/pod-name'

/** The label that numbers a pod among those of its stateful set. */
export const podIndexLabel = 'apps.kubernetes.io/pod-index'

/** Number of the first pod. */
export const firstOrdinal = ({ spec }: StatefulSet): number => spec.ordinals?.start ?? 0

/** How many pods a stateful set asks for. */
export const desiredOf = ({ spec }: StatefulSet): number => spec.replicas ?? 1

/** The name of the pod with this number. */
export const podName = ({ metadata }: StatefulSet, ordinal: number): string => `${metadata.name}-${ordinal}`

/** The number in the name of a stateful set's pod; undefined for a pod that is not named like one. */
export function ordinalOf({ metadata }: StatefulSet, pod: Pod): number | undefined {
  const [, parent, ordinal] = /^(.*)-([0-9]+)$/.exec(pod.metadata.name ?? '') ?? []
  if (parent !== metadata.name || ordinal === undefined) return undefined
  const number = Number(ordinal)
  return number < 2 ** 31 ? number : undefined
}

/** Whether a number is among those of the pods that are wanted. */
export function isWanted(set: StatefulSet, ordinal: number): boolean {
  const first = firstOrdinal(set)
  return ordinal >= first && ordinal < first + desiredOf(set)
}
