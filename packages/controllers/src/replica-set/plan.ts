import type { ReplicaSet, ReplicaSetStatus } from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import type { DesiredReplicas } from '../replicas/desired.ts'
import type { ObservedOwner } from '../replicas/observed-pods.ts'
import { planReplicas } from '../replicas/plan.ts'
import { selectorOf } from '../selector-of.ts'

/** Keeps exactly `spec.replicas` pods of the template that match the selector. Pure: the same input gives the same plan. */
export function planReplicaSet(observed: ObservedOwner<ReplicaSet>, nowMs: Time): Plan<ReplicaSetStatus> {
  const { owner, counts } = observed
  const { status, ...plan } = planReplicas(
    { ...observed, desired: desiredReplicas(owner), status: owner.status },
    nowMs,
  )
  return status === undefined ? plan : { ...plan, status: { ...status, terminatingReplicas: counts.terminating } }
}

/** What a replica set asks for. */
export function desiredReplicas({ spec }: ReplicaSet): DesiredReplicas {
  return {
    replicas: spec.replicas ?? 1,
    selector: selectorOf(spec.selector),
    template: spec.template,
    minReadySeconds: spec.minReadySeconds ?? 0,
  }
}
