import type { KubernetesObject, Pod, StatefulSet } from '@coracle/api'
import { controllerOf, type View } from '../view.ts'
import { ordinalOf } from './pods.ts'

/** A pod that was taken aside keeps its name, without which the set cannot make another: it tries again and again. */
export const isHeldUp = (set: KubernetesObject, view: View): boolean => namesakesOf(set, view).length > 0

/**
 * Whether a set does nothing for one of its pods since it cannot make another: not even a claim that is missing. One that goes in order
 * stops there, and lets none of those after it go or come; one that does not, lets none go that are too many (upstream's
 * StatefulSetControl, which deletes pods once it has gone through those that are wanted).
 */
export function isHeldUpBefore(pod: Pod, set: StatefulSet, view: View): boolean {
  const { ordinals, replicas = 1, podManagementPolicy } = set.spec
  const start = ordinals?.start ?? 0
  const end = start + replicas
  const own = ordinalOf(pod)
  const isTooMany = own < start || own >= end
  if (podManagementPolicy === 'Parallel' && !isTooMany) return false
  const last = isTooMany ? end : own
  return namesakesOf(set, view)
    .map(ordinalOf)
    .some((ordinal) => start <= ordinal && ordinal < last)
}

/** The pods that are named like those of a set, and are not its own. */
const namesakesOf = ({ metadata: { namespace, name, uid } }: KubernetesObject, view: View): readonly Pod[] =>
  view
    .list<Pod>('Pod')
    .filter((pod) => pod.metadata.namespace === namespace && controllerOf(pod)?.uid !== uid)
    .filter((pod) => /^(.*)-\d+$/.exec(pod.metadata.name ?? '')?.[1] === name)
