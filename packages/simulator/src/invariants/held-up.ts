import type { KubernetesObject, Pod, StatefulSet } from '@coracle/api'
import { controllerOf, type View } from '../view.ts'
import { ordinalOf } from './pods.ts'

/** A pod that was taken aside keeps its name, without which the set cannot make another: it tries again and again. */
export const isHeldUp = (set: KubernetesObject, view: View): boolean => namesakesOf(set, view).length > 0

/**
 * Whether a set does nothing for one of its pods, as it goes in order and cannot make one that comes before: not even a claim that is
 * missing, as upstream stops at the pod that it cannot make.
 */
export function isHeldUpBefore(pod: Pod, set: StatefulSet, view: View): boolean {
  const { ordinals, replicas = 1, podManagementPolicy } = set.spec
  if (podManagementPolicy === 'Parallel') return false
  const start = ordinals?.start ?? 0
  const end = Math.min(start + replicas, ordinalOf(pod))
  return namesakesOf(set, view)
    .map(ordinalOf)
    .some((ordinal) => start <= ordinal && ordinal < end)
}

/** The pods that are named like those of a set, and are not its own. */
const namesakesOf = ({ metadata: { namespace, name, uid } }: KubernetesObject, view: View): readonly Pod[] =>
  view
    .list<Pod>('Pod')
    .filter((pod) => pod.metadata.namespace === namespace && controllerOf(pod)?.uid !== uid)
    .filter((pod) => /^(.*)-\d+$/.exec(pod.metadata.name ?? '')?.[1] === name)
