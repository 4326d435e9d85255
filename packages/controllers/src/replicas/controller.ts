import {
  deepEqual,
  hasReason,
  type KubernetesObject,
  type LabelSelectorMatcher,
  type Pod,
  pods as podResource,
  type Resource,
} from '@coracle/api'
import { keyOf } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  controllerOf,
  type Lookup,
  type Plan,
  performPlan,
  type Reconcile,
  type ReconcileContext,
  type Result,
} from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { isNamespaceGoing } from '../namespace/going.ts'
import { isOrphan, orphanIndexName, orphansByNamespace } from '../pods/orphans.ts'
import { isActive, isReady, readySince } from '../pods/pod-state.ts'
import type { Candidates } from './claims.ts'
import type { ReplicasStatus } from './desired.ts'
import { withFailure } from './status.ts'

type WithStatus = KubernetesObject & { readonly status?: ReplicasStatus | undefined }

/** A kind of object that keeps a number of pods. */
export interface ReplicasKind<T extends WithStatus> {
  /** Name of the controller. */
  readonly name: string
  /** The name its events are reported under. */
  readonly component: string
  readonly resource: Resource<T>
  /** The pods that belong to an object. Pure. */
  selector(object: T): LabelSelectorMatcher
  /** What to do about an object. Pure. */
  plan(observed: ObservedOwner<T>, nowMs: Time): Plan<ReplicasStatus>
}

/** An object that keeps a number of pods, and the pods it may count. */
export interface ObservedOwner<T extends KubernetesObject> extends Candidates {
  readonly owner: T
}

/** The controller of a kind that keeps a number of pods: one engine for replication controllers and replica sets. */
export function replicasController<T extends WithStatus>(kind: ReplicasKind<T>): Controller {
  const ownersOfOrphan = (pod: Pod, lookup: Lookup): readonly string[] => {
    if (!isOrphan(pod)) return []
    const owners = lookup.informer(kind.resource).list(pod.metadata.namespace)
    return owners.filter((owner) => kind.selector(owner).matches(pod.metadata.labels)).map(keyOf)
  }
  return controller(kind.name, { component: kind.component })
    .for(kind.resource)
    .owns(podResource, { predicates: [changesReplicas], indexes: { [orphanIndexName]: orphansByNamespace } })
    .watches(podResource, ownersOfOrphan, { predicates: [changesReplicas] })
    .reconcile(reconcileReplicas(kind))
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
    isReady(old) !== isReady(object) ||
    readySince(old) !== readySince(object) ||
    !deepEqual(old.metadata.labels, object.metadata.labels) ||
    !deepEqual(old.metadata.ownerReferences, object.metadata.ownerReferences)
  )
}

function reconcileReplicas<T extends WithStatus>(kind: ReplicasKind<T>): Reconcile<T> {
  return async ({ object }, context) => {
    if (object === undefined) return undefined
    const orphans = context.informer(podResource).byIndex(orphanIndexName, object.metadata.namespace ?? '')
    const selector = kind.selector(object)
    const isAdopting = orphans.some((pod) => selector.matches(pod.metadata.labels))
    const owner = isAdopting ? await liveOwner(context, object) : object
    if (owner === undefined) return undefined
    const controlled = context.owned<Pod>(podResource)
    const related = relatedPods(kind, owner, context)
    return perform(context, owner, kind.plan({ owner, controlled, orphans, related }, context.clock.now()))
  }
}

function relatedPods<T extends WithStatus>(kind: ReplicasKind<T>, owner: T, lookup: Lookup): readonly Pod[] {
  const uid = controllerOf(owner)?.uid
  if (uid === undefined) return []
  const { namespace } = owner.metadata
  const siblings = lookup
    .informer(kind.resource)
    .list(namespace)
    .filter((each) => controllerOf(each)?.uid === uid)
  const selectors = siblings.map((sibling) => kind.selector(sibling))
  const candidates = lookup.informer(podResource).list(namespace)
  return candidates.filter(({ metadata }) => selectors.some((selector) => selector.matches(metadata.labels)))
}

/**
 * The owner as the server has it, if it is still the same: an owner known from the cache only may be gone, and would take a
 * pod from the one that has come after it (https://issue.k8s.io/42639).
 */
async function liveOwner<T extends WithStatus>(context: ReconcileContext<T>, { metadata }: T): Promise<T | undefined> {
  const { namespace, name = '', uid } = metadata
  try {
    const live = await context.client.get(context.resource, namespace === undefined ? { name } : { namespace, name })
    return live.metadata.uid === uid ? live : undefined
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
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
  const failure = await failureOf(() => performPlan(context, owner, { actions: resizing }))
  if (status !== undefined) {
    const reason = resizing[0]?.type === 'create' ? 'FailedCreate' : 'FailedDelete'
    const shown =
      failure === undefined ? status : withFailure(status, owner.status, reason, failure, context.clock.now())
    await performPlan<ReplicasStatus, T>(context, owner, { actions: [], status: shown })
  }
  if (failure !== undefined) throw failure
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
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
