import {
  type Deployment,
  deepEqual,
  deployments,
  type LabelSelectorMatcher,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  pods as podResource,
  type ReplicaSet,
  type ReplicationController,
  type Resource,
  replicaSets,
  replicationControllers,
  type StatefulSet,
  statefulSets,
} from '@coracle/api'
import { keyOf, keyText } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  filedBySelector,
  type Lookup,
  performPlan,
  type ReconcileContext,
  selecting,
  selectorIndexName,
} from '@coracle/controller-runtime'
import { isReady } from '../pods/pod-state.ts'
import { selectorOf } from '../selector-of.ts'
import { expectedScale } from './expected-scale.ts'
import { GuardedTallies } from './guarded-pods.ts'
import { needsScale, planDisruptionBudget, planStaleTarget, staleTargetAt } from './plan.ts'

/**
 * Keeps the status of disruption budgets: how many pods may be evicted now. Evictions are granted by it alone, so it says
 * nothing that it has not counted. Also takes back what pods say of a disruption that did not come.
 */
export function createDisruptionController({ resources }: { resources(): readonly Resource[] }): Controller {
  const tallies = new GuardedTallies()
  return controller('disruption-controller', { component: 'controllermanager' })
    .for(podDisruptionBudgets, { indexes: { [selectorIndexName]: filedBySelector(matcherOf) } })
    .watches(podResource, concerns, { predicates: [changesDisruption], aggregates: [tallies] })
    .watches(replicationControllers, guarding, { predicates: [changesScale] })
    .watches(replicaSets, guarding, { predicates: [changesScale] })
    .watches(deployments, guarding, { predicates: [changesScale] })
    .watches(statefulSets, guarding, { predicates: [changesScale] })
    .reconcile(async ({ key, object: budget, namespace = '', name }, context) => {
      if (name.startsWith(podKeyPrefix)) return clearStaleTarget(context, namespace, name.slice(podKeyPrefix.length))
      if (budget === undefined) {
        tallies.forget(key)
        return undefined
      }
      const pods = context.informer(podResource)
      const selector = matcherOf(budget)
      const guarded = tallies.of(key, namespace, selector, () => pods.list(namespace))
      const granted = Object.keys(budget.status?.disruptedPods ?? {})
        .map((podName) => pods.get(keyText(namespace, podName)))
        .filter((pod) => pod !== undefined)
        .filter(({ metadata }) => selector.matches(metadata.labels))
      const sources = { client: context.client, informer: context.informer.bind(context), resources }
      const scale = needsScale(budget) ? await expectedScale(sources, namespace, guarded.controllers) : undefined
      const plan = planDisruptionBudget({ budget, guarded, granted, scale }, context.clock.now())
      await performPlan(context, budget, plan)
      // What could not be asked may be there later, and nothing tells of it.
      if (scale !== undefined && 'error' in scale) throw new Error(scale.error)
      return plan.requeueAfterMs === undefined ? undefined : { requeueAfterMs: plan.requeueAfterMs }
    })
}

/** Makes the key of a pod beside those of budgets. No budget can be called that. */
const podKeyPrefix = 'pod/'

/** The budgets that guard a pod, and the pod itself while it says that it is about to be disrupted. */
function concerns(pod: Pod, lookup: Lookup): readonly string[] {
  const { namespace, name = '', labels } = pod.metadata
  const budgets = selecting(lookup.informer(podDisruptionBudgets), namespace, labels)
  const keys = budgets.filter((budget) => matcherOf(budget).matches(labels)).map(keyOf)
  return staleTargetAt(pod) === undefined ? keys : [...keys, keyText(namespace, podKeyPrefix + name)]
}

function changesDisruption(change: Change<Pod>): boolean {
  if (change.type !== 'update') return true
  const { old, object } = change
  return (
    isReady(old) !== isReady(object) ||
    old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    staleTargetAt(old) !== staleTargetAt(object) ||
    !deepEqual(old.metadata.labels, object.metadata.labels) ||
    !deepEqual(old.metadata.ownerReferences, object.metadata.ownerReferences)
  )
}

/** The budgets that guard the pods of a workload: how many of them are expected is for it to say, before any of them comes or goes. */
function guarding({ metadata: { namespace }, spec }: Scalable, lookup: Lookup): readonly string[] {
  const labels = spec?.template?.metadata?.labels
  const budgets = selecting(lookup.informer(podDisruptionBudgets), namespace, labels)
  return budgets.filter((budget) => matcherOf(budget).matches(labels)).map(keyOf)
}

type Scalable = Deployment | ReplicaSet | ReplicationController | StatefulSet

const changesScale = (change: Change<Scalable>): boolean =>
  change.type !== 'update' || change.old.spec?.replicas !== change.object.spec?.replicas

const matcherOf = ({ spec }: PodDisruptionBudget): LabelSelectorMatcher => selectorOf(spec?.selector)

async function clearStaleTarget(context: ReconcileContext<PodDisruptionBudget>, namespace: string, name: string) {
  const pod = context.informer(podResource).get(keyText(namespace, name))
  if (pod === undefined) return undefined
  const plan = planStaleTarget(pod, context.clock.now())
  const podContext: ReconcileContext<Pod> = { ...context, resource: podResource }
  await performPlan(podContext, pod, { actions: plan.actions })
  return plan.requeueAfterMs === undefined ? undefined : { requeueAfterMs: plan.requeueAfterMs }
}
