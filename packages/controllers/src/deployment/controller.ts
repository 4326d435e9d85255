import {
  type Deployment,
  deployments,
  hasReason,
  type Pod,
  pods,
  type ReplicaSet,
  replicaSets,
  resourceQuotas,
} from '@coracle/api'
import { type IndexFunction, keyOf, keyText } from '@coracle/client'
import {
  type Change,
  type Controller,
  controlledBy,
  controller,
  controllerOf,
  filedByLabels,
  filedBySelector,
  type Lookup,
  liveOwner,
  performPlan,
  type ReconcileContext,
  type Result,
  selected,
  selecting,
  selectorIndexName,
} from '@coracle/controller-runtime'
import { isNamespaceGoing } from '../namespace/going.ts'
import { hasEnded } from '../pods/pod-state.ts'
import { ownerRestMs } from '../pods/rest.ts'
import { RunningPods } from '../pods/running-pods.ts'
import { givesRoom } from '../resource-quota/gives-room.ts'
import { ownSelector } from '../selector-of.ts'
import { isRollingUpdate } from './limits.ts'
import { createFailureStatus, isSettled, planDeployment } from './plan.ts'

/** The index of ReplicaSets that no controller has, by their labels. */
const orphanIndexName = 'orphan'
const orphansByLabels: IndexFunction<ReplicaSet> = (set) => (controllerOf(set) === undefined ? filedByLabels(set) : [])

/** Rolls deployments out: a ReplicaSet for each version of the template, grown and shrunk step by step. */
export function createDeploymentController(): Controller {
  const runningPods = new RunningPods()
  return controller('deployment-controller', { component: 'deployment-controller' })
    .for(deployments, { indexes: { [selectorIndexName]: filedBySelector<Deployment>(ownSelector) } })
    .owns(replicaSets, { indexes: { [orphanIndexName]: orphansByLabels } })
    .watches(replicaSets, deploymentsOfOrphan)
    .watches(pods, (pod, lookup) => recreatedDeployment(pod, lookup, runningPods), {
      predicates: [isEnd],
      aggregates: [runningPods],
    })
    .retriesOn(resourceQuotas, { predicates: [givesRoom] })
    .reconcile(async ({ object }, context) => {
      if (object === undefined) return undefined
      const { namespace } = object.metadata
      const sets = context.informer(replicaSets)
      const selector = ownSelector(object)
      const isGoing = object.metadata.deletionTimestamp !== undefined
      const orphans = isGoing ? [] : selected(sets, orphanIndexName, namespace, selector).filter(isStaying)
      const deployment = orphans.length > 0 ? await liveOwner(context, object) : object
      if (deployment === undefined) return undefined
      const controlled = controlledBy(sets, deployment)
      const matches = ({ metadata }: ReplicaSet) => selector.matches(metadata.labels)
      const observed = {
        deployment,
        replicaSets: controlled.filter(matches),
        orphans,
        mismatched: controlled.filter((set) => !matches(set)),
        hasPods: ({ metadata }: ReplicaSet) => runningPods.hasAny(namespace, metadata.uid ?? ''),
        isNameTaken: (name: string) => sets.get(keyText(namespace, name)) !== undefined,
      }
      const plan = planDeployment(observed, context.clock.now())
      const result = await perform(context, deployment, plan)
      return { ...result, restMs: ownerRestMs(deployment.spec.replicas ?? 1), isSettled: isSettled(deployment, plan) }
    })
}

async function perform(
  context: ReconcileContext<Deployment>,
  deployment: Deployment,
  plan: ReturnType<typeof planDeployment>,
): Promise<Result> {
  const { status, annotations } = plan
  // A new ReplicaSet first: as long as there is none, nothing makes room for it.
  const creations = plan.actions.filter(({ type }) => type === 'create')
  try {
    await performPlan(context, deployment, { actions: creations })
  } catch (error) {
    // In a namespace that is going nothing can be made, and nothing needs to be.
    if (isNamespaceGoing(error)) return undefined
    // That the name is taken shows in the cache soon. What else went wrong is for people to read.
    const failure = hasReason(error, 'AlreadyExists')
      ? undefined
      : createFailureStatus(deployment, messageOf(error), context.clock.now())
    if (failure !== undefined) await performPlan(context, deployment, { actions: [], status: failure })
    throw error
  }
  await performPlan(context, deployment, { actions: plan.actions.filter(({ type }) => type !== 'create') })
  if (status !== undefined) {
    await performPlan(context, deployment, {
      actions: [],
      status,
      ...(annotations === undefined ? {} : { annotations }),
    })
  }
  return plan.requeueAfterMs === undefined ? undefined : { requeueAfterMs: plan.requeueAfterMs }
}

function deploymentsOfOrphan(set: ReplicaSet, lookup: Lookup): readonly string[] {
  const { namespace, labels } = set.metadata
  if (controllerOf(set) !== undefined) return []
  const candidates = selecting(lookup.informer(deployments), namespace, labels)
  return candidates.filter((deployment) => ownSelector(deployment).matches(labels)).map(keyOf)
}

const isStaying = ({ metadata }: ReplicaSet): boolean => metadata.deletionTimestamp === undefined

/** Whether a pod runs no longer since this change. */
function isEnd(change: Change<Pod>): boolean {
  if (change.type === 'update') return hasEnded(change.object) && !hasEnded(change.old)
  return change.type === 'delete'
}

/** The deployment that waits for the last of its old pods to end, before it makes new ones. */
function recreatedDeployment(pod: Pod, lookup: Lookup, runningPods: RunningPods): readonly string[] {
  const owner = controllerOf(pod, replicaSets)
  const { namespace } = pod.metadata
  if (owner === undefined || runningPods.hasAny(namespace, owner.uid)) return []
  const set = lookup.informer(replicaSets).get(keyText(namespace, owner.name))
  const name = set === undefined ? undefined : controllerOf(set, deployments)?.name
  if (name === undefined) return []
  const deployment = lookup.informer(deployments).get(keyText(namespace, name))
  return deployment === undefined || isRollingUpdate(deployment) ? [] : [keyOf(deployment)]
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
