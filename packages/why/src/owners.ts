import type { KubernetesObject, OwnerReference, Pod } from '@coracle/api'
import { conditionOf } from './conditions.ts'

/** The owner that manages an object. */
export const controllerOf = ({ metadata }: KubernetesObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)

export const isControlledBy = (object: KubernetesObject, { metadata }: KubernetesObject): boolean =>
  controllerOf(object)?.uid === metadata.uid

export const isReady = (pod: Pod): boolean => conditionOf(pod, 'Ready')?.status === 'True'

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded'

export const isGoing = ({ metadata }: KubernetesObject): boolean => metadata.deletionTimestamp !== undefined

/** Pods that may be what holds their owner up: those that do not serve, without those that have ended well. The oldest first. */
export const troubled = (pods: readonly Pod[]): readonly Pod[] =>
  pods
    .filter((pod) => !isGoing(pod) && !isReady(pod) && pod.status?.phase !== 'Succeeded')
    .toSorted((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1))
