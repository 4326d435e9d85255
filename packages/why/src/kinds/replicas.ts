import {
  type Pod,
  pods,
  type ReplicaSet,
  type ReplicationController,
  selectorFromLabelSelector,
  selectorFromMap,
} from '@coracle/api'
import { conditionOf, saidBy } from '../conditions.ts'
import type { Facts, KindRules, Read } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { isControlledBy, isGoing, isReady, troubled } from '../owners.ts'
import { refusalOf, refusedCreation } from '../rules/refusals.ts'

type Replicated = ReplicaSet | ReplicationController

/** The pods that a workload selects, to be read. */
export function readsOfPods({ metadata: { namespace } }: Pod | Replicated, labelSelector: string): readonly Read[] {
  return labelSelector === '' ? [] : [{ resource: pods, namespace, labelSelector }]
}

/** ReplicaSets and ReplicationControllers: so many pods. */
export const replicaSetRules: KindRules<ReplicaSet> = {
  reads: (set) => readsOfPods(set, selectorFromLabelSelector(set.spec.selector).toString()),
  rules: [refusedPodsLacking],
  leads: troubledPods,
  behind: tooFewReady,
}

export const replicationControllerRules: KindRules<ReplicationController> = {
  reads: (controller) => readsOfPods(controller, selectorFromMap(controller.spec.selector).toString()),
  rules: [refusedPodsLacking],
  leads: troubledPods,
  behind: tooFewReady,
}

/** The pods of a workload that do not serve. Those that go are of interest where nothing else is left of it. */
export function troubledPods({ object, some }: Facts): readonly Pod[] {
  const own = some(pods).filter((pod) => isControlledBy(pod, object))
  return isGoing(object) ? own : troubled(own)
}

/** The API server refuses the pods: nothing else is left of them. */
export function refusedPods(facts: Facts): Diagnosis | undefined {
  const condition = conditionOf(facts.object, 'ReplicaFailure')
  if (condition?.status !== 'True') return undefined
  const because = saidBy(condition)
  if (condition.reason === 'FailedDelete') {
    return {
      reason: 'DeletionRefused',
      what: 'its pods cannot be deleted',
      because,
      remedy: 'see what refuses the deletion: it is tried again',
    }
  }
  return { ...refusalOf(because), what: 'its pods cannot be created', because }
}

/** What is refused holds nothing up where there are as many pods as there are to be: the condition is taken back later. */
function refusedPodsLacking(facts: Facts<Replicated>): Diagnosis | undefined {
  const { object, all } = facts
  const refused = refusedPods(facts)
  const known = all(pods)
  if (refused === undefined || known === undefined) return refused
  const count = known.filter((pod) => isControlledBy(pod, object) && !isGoing(pod)).length
  const wanted = isGoing(object) ? 0 : (object.spec.replicas ?? 1)
  const isOver = refused.reason === 'DeletionRefused' ? count <= wanted : count >= wanted
  return isOver ? undefined : refused
}

/** Whoever owns no condition for it tells of refusals by events alone. */
export const refusedByEvents = refusedCreation('its pods cannot be created')

function tooFewReady({ object, some }: Facts<Replicated>): Diagnosis | undefined {
  const wanted = object.spec.replicas ?? 1
  const own = some(pods).filter((pod) => isControlledBy(pod, object) && !isGoing(pod))
  const ready = own.filter(isReady).length
  if (isGoing(object) || (ready === wanted && own.length === wanted)) return undefined
  return underWay(`${ready} of ${wanted} pods are ready`, `${own.length} exist`)
}

/** It is being seen to, and nothing is known to be wrong. */
export const underWay = (what: string, because: string): Diagnosis => ({
  reason: 'UnderWay',
  what,
  because,
  remedy: 'its controller and its nodes are about it: ask again in a moment',
  state: 'waiting',
})
