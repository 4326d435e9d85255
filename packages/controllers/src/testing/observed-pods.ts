import type { KubernetesObject, Pod } from '@coracle/api'
import { isOrphan } from '../pods/orphans.ts'
import type { DesiredReplicas } from '../replicas/desired.ts'
import type { ObservedOwner } from '../replicas/observed-pods.ts'
import { countingRule, ReplicaTally } from '../replicas/tally.ts'
import { startMs } from './objects.ts'

export interface PodsAtHand {
  readonly controlled: readonly Pod[]
  /** Pods without a controller, whether they match or not. */
  readonly orphans?: readonly Pod[]
  readonly related?: readonly Pod[]
}

/** What a plan is given for an owner that asks for this, at `startMs`. */
export function observedOwner<T extends KubernetesObject>(
  owner: T,
  desired: DesiredReplicas,
  { controlled, orphans = [], related = [] }: PodsAtHand,
): ObservedOwner<T> {
  const tally = new ReplicaTally(countingRule(desired), controlled)
  return {
    owner,
    counts: tally.counts(startMs),
    mismatched: tally.mismatched,
    orphans: orphans.filter((pod) => isOrphan(pod) && desired.selector.matches(pod.metadata.labels)),
    controlled: () => controlled,
    related: () => related,
  }
}
