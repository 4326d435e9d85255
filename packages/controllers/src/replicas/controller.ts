import {
  deepEqual,
  type KubernetesObject,
  type Pod,
  pods as podResource,
  type Resource,
  resourceQuotas,
} from '@coracle/api'
import { byController, controllerIndexName, keyOf } from '@coracle/client'
import {
  type Change,
  type Controller,
  controlledBy,
  controller,
  controllerOf,
  filedBySelector,
  type Lookup,
  liveOwner,
  type Plan,
  performPlan,
  type Reconcile,
  type ReconcileContext,
  type Result,
  selected,
  selecting,
  selectorIndexName,
} from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { isNamespaceGoing } from '../namespace/going.ts'
import { concernsOrphan, isOrphan, orphanIndexName, orphansByLabels } from '../pods/orphans.ts'
import { isActive, isReady, isTerminating, readySince } from '../pods/pod-state.ts'
import { ownerRestMs } from '../pods/rest.ts'
import { givesRoom } from '../resource-quota/gives-room.ts'
import type { DesiredReplicas, ReplicasStatus } from './desired.ts'
import type { ObservedOwner } from './observed-pods.ts'
import { isOnlyLater, withFailure } from './status.ts'
import { ReplicaTallies } from './tallies.ts'
import { countingRule } from './tally.ts'

type WithStatus = KubernetesObject & { readonly status?: ReplicasStatus | undefined }

/** A kind of object that keeps a number of pods. */
export interface ReplicasKind<T extends WithStatus> {
  /** Name of the controller. */
  readonly name: string
  /** The name its events are reported under. */
  readonly component: string
  readonly resource: Resource<T>
  /** What an object asks for. Pure. */
  desired(object: T): DesiredReplicas
  /** What to do about an object. Pure. */
  plan(observed: ObservedOwner<T>, nowMs: Time): Plan<ReplicasStatus>
}

/**
 * The controller of a kind that keeps a number of pods: one engine for replication controllers and replica sets. A reconcile
 * costs what it changes, however many pods there are, unless some of them have to be chosen for deletion.
 */
export function replicasController<T extends WithStatus>(kind: ReplicasKind<T>): Controller {
  const tallies = new ReplicaTallies()
  const selectorOf = (owner: T) => kind.desired(owner).selector
  const ownersOfOrphan = (pod: Pod, lookup: Lookup): readonly string[] => {
    if (!isOrphan(pod)) return []
    const { namespace, labels } = pod.metadata
    const owners = selecting(lookup.informer(kind.resource), namespace, labels)
    return owners.filter((owner) => selectorOf(owner).matches(labels)).map(keyOf)
  }
  return controller(kind.name, { component: kind.component })
    .for(kind.resource, {
      indexes: { [selectorIndexName]: filedBySelector(selectorOf), [controllerIndexName]: byController },
    })
    .owns(podResource, {
      predicates: [changesReplicas],
      indexes: { [orphanIndexName]: orphansByLabels },
      aggregates: [tallies],
    })
    .watches(podResource, ownersOfOrphan, { predicates: [concernsOrphan, changesReplicas] })
    .retriesOn(resourceQuotas, { predicates: [givesRoom] })
    .reconcile(reconcileReplicas(kind, tallies))
}

/**
 * Of a pod's many updates only those that can change what its controller does or shows: starting a thousand pods would
 * otherwise mean thousands of rounds over all of them.
 */
export function changesReplicas(change: Change<Pod>): boolean {
  if (change.type !== 'update') return true
  const { old, object } = change
  return (
    isActive(old) !== isActive(object) ||
    isTerminating(old) !== isTerminating(object) ||
    isReady(old) !== isReady(object) ||
    readySince(old) !== readySince(object) ||
    !deepEqual(old.metadata.labels, object.metadata.labels) ||
    !deepEqual(old.metadata.ownerReferences, object.metadata.ownerReferences)
  )
}

function reconcileReplicas<T extends WithStatus>(kind: ReplicasKind<T>, tallies: ReplicaTallies): Reconcile<T> {
  return async ({ key, object }, context) => {
    if (object === undefined) {
      tallies.forget(key)
      return undefined
    }
    const desired = kind.desired(object)
    const { namespace, uid = '' } = object.metadata
    const orphans = selected(context.informer(podResource), orphanIndexName, namespace, desired.selector)
    const owner = orphans.length > 0 ? await liveOwner(context, object) : object
    if (owner === undefined) return undefined
    const controlled = () => context.owned<Pod>(podResource)
    const nowMs = context.clock.now()
    const tally = tallies.of(key, uid, countingRule(kind.desired(owner)), controlled, nowMs)
    const counts = tally.counts(nowMs)
    const related = () => relatedPods(kind, owner, context)
    const plan = kind.plan({ owner, counts, mismatched: tally.mismatched, orphans, controlled, related }, nowMs)
    const result = await perform(context, owner, plan)
    // What makes or deletes pods goes on with the next of them at once.
    return plan.actions.length > 0 ? result : { ...result, restMs: ownerRestMs(desired.replicas), isSettled: true }
  }
}

/** The pods of all objects that the owner's controller has made. */
function relatedPods<T extends WithStatus>(kind: ReplicasKind<T>, owner: T, lookup: Lookup): readonly Pod[] {
  const uid = controllerOf(owner)?.uid
  if (uid === undefined) return []
  const siblings = controlledBy(lookup.informer(kind.resource), { metadata: { ...owner.metadata, uid } })
  const pods = lookup.informer(podResource)
  return siblings.flatMap((sibling) => controlledBy(pods, sibling))
}

async function perform<T extends WithStatus>(
  context: ReconcileContext<T>,
  owner: T,
  plan: Plan<ReplicasStatus>,
): Promise<Result> {
  const { actions, status, requeueAfterMs } = plan
  // Without its pods in hand there is nothing true to say in the status.
  await performPlan(context, owner, { actions: actions.filter(({ type }) => type === 'patch') })
  const resizing = actions.filter(({ type }) => type !== 'patch')
  // Pods become available also where no others can be made, because of a quota for one.
  const wait = requeueAfterMs === undefined ? {} : { requeueAfterMs }
  let isResized = false
  const failure = await failureOf(async () => {
    await performPlan(context, owner, { actions: resizing, ...wait })
    isResized = resizing.length > 0
  })
  // The pods that came or went are told of when the cache shows them: until then there is nothing new but the generation.
  if (isResized && status !== undefined && isOnlyLater(status, owner.status)) return { requeueAfterMs: 0 }
  if (status !== undefined) {
    const reason = resizing[0]?.type === 'create' ? 'FailedCreate' : 'FailedDelete'
    const shown =
      failure === undefined ? status : withFailure(status, owner.status, reason, failure, context.clock.now())
    await performPlan<ReplicasStatus, T>(context, owner, { actions: [], status: shown })
  }
  if (failure !== undefined) throw failure
  return requeueAfterMs === undefined ? undefined : wait
}

/** What an attempt failed with. That a namespace is going is no failure. */
async function failureOf(attempt: () => Promise<unknown>): Promise<unknown> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
    return errors.every(isNamespaceGoing) ? undefined : error
  }
}
