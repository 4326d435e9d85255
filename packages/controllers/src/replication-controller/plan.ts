import { nothing, type ReplicationController, type ReplicationControllerStatus, selectorFromMap } from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import type { DesiredReplicas } from '../replicas/desired.ts'
import type { ObservedOwner } from '../replicas/observed-pods.ts'
import { planReplicas } from '../replicas/plan.ts'

/** Keeps exactly `spec.replicas` pods of the template that match the selector. Pure: the same input gives the same plan. */
export function planReplicationController(
  observed: ObservedOwner<ReplicationController>,
  nowMs: Time,
): Plan<ReplicationControllerStatus> {
  const { owner } = observed
  return planReplicas({ ...observed, desired: desiredReplicas(owner), status: owner.status }, nowMs)
}

/** What a replication controller asks for. An empty selector, which the server refuses, would be everybody's pods: it is none. */
export function desiredReplicas({ spec }: ReplicationController): DesiredReplicas {
  const hasSelector = Object.keys(spec.selector ?? {}).length > 0
  return {
    replicas: spec.replicas ?? 1,
    selector: hasSelector ? selectorFromMap(spec.selector) : nothing,
    template: spec.template,
    minReadySeconds: spec.minReadySeconds ?? 0,
  }
}
