import {
  type ControllerRevision,
  controllerRevisions,
  type DaemonSet,
  daemonSets,
  deepEqual,
  type LabelSelectorMatcher,
  type Node,
  nodes,
  nothing,
  type Pod,
  pods,
  selectorFromLabelSelector,
} from '@coracle/api'
import { controllerIndexName, type IndexFunction, type Informer, keyOf, keyText } from '@coracle/client'
import {
  type Change,
  type Controller,
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
import { isOrphan, orphanIndexName, orphansByLabels } from '../pods/orphans.ts'
import { changesReplicas } from '../replicas/controller.ts'
import { eligibility } from './eligibility.ts'
import { DaemonPodFailures } from './failures.ts'
import { type DaemonSetPlan, planDaemonSet } from './plan.ts'

/** The index of revisions that no controller has, by their labels. */
const orphanRevisionsByLabels: IndexFunction<ControllerRevision> = (revision) =>
  controllerOf(revision) === undefined ? filedByLabels(revision) : []

/** Keeps a pod of each daemon set on every node that fits. */
export function createDaemonSetController(): Controller {
  const failures = new DaemonPodFailures()
  return controller('daemon-set-controller', { component: 'daemonset-controller' })
    .for(daemonSets, { indexes: { [selectorIndexName]: filedBySelector(selectorOf) } })
    .owns(pods, { predicates: [changesReplicas], indexes: { [orphanIndexName]: orphansByLabels } })
    .owns(controllerRevisions, { indexes: { [orphanIndexName]: orphanRevisionsByLabels } })
    .watches(pods, (pod, lookup) => (isOrphan(pod) ? daemonSetsSelecting(pod, lookup) : []), {
      predicates: [changesReplicas],
    })
    .watches(controllerRevisions, (revision, lookup) =>
      controllerOf(revision) === undefined ? daemonSetsSelecting(revision, lookup) : [],
    )
    .watches(nodes, (node, lookup) => daemonSetsOf(node, lookup), { predicates: [changesEligibility] })
    .reconcile(async ({ object }, context) => {
      if (object === undefined) return undefined
      const isGoing = object.metadata.deletionTimestamp !== undefined
      const orphans = isGoing ? [] : orphansOf(object, context.informer(pods))
      const orphanRevisions = isGoing ? [] : orphansOf(object, context.informer(controllerRevisions))
      const isAdopting = orphans.length + orphanRevisions.length > 0
      const daemonSet = isAdopting ? await liveOwner(context, object) : object
      if (daemonSet === undefined) return undefined
      const { uid = '', namespace } = daemonSet.metadata
      const selector = selectorOf(daemonSet)
      const controlled = context.owned<Pod>(pods)
      const revisions = context.informer(controllerRevisions)
      const nowMs = context.clock.now()
      const plan = planDaemonSet(
        {
          daemonSet,
          nodes: context.informer(nodes).list(),
          pods: controlled.filter(({ metadata }) => selector.matches(metadata.labels)),
          mismatched: controlled.filter(({ metadata }) => !selector.matches(metadata.labels)),
          orphans,
          revisions: revisions.byIndex(controllerIndexName, uid),
          orphanRevisions,
          isRevisionNameTaken: (name) => revisions.get(keyText(namespace, name)) !== undefined,
          waitAfterFailureMs: (nodeName) => failures.waitMs(uid, nodeName, nowMs),
        },
        nowMs,
      )
      for (const nodeName of plan.failedOn) failures.record(uid, nodeName, nowMs)
      return perform(context, daemonSet, plan)
    })
}

async function perform(
  context: ReconcileContext<DaemonSet>,
  daemonSet: DaemonSet,
  plan: DaemonSetPlan,
): Promise<Result> {
  try {
    return await performPlan(context, daemonSet, plan)
  } catch (error) {
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
    // In a namespace that is going nothing can be made, and nothing needs to be.
    if (errors.every(isNamespaceGoing)) return undefined
    throw error
  }
}

const matchers = new WeakMap<object, LabelSelectorMatcher>()

/** What a daemon set selects. An empty selector, which would be everybody's pods, selects none. */
function selectorOf({ spec: { selector } }: DaemonSet): LabelSelectorMatcher {
  const known = matchers.get(selector)
  if (known !== undefined) return known
  const made = selectorFromLabelSelector(selector)
  const safe = made.requirements.length === 0 ? nothing : made
  matchers.set(selector, safe)
  return safe
}

function orphansOf<T extends Pod | ControllerRevision>(daemonSet: DaemonSet, informer: Informer<T>): readonly T[] {
  const { namespace } = daemonSet.metadata
  const found = selected(informer, orphanIndexName, namespace, selectorOf(daemonSet))
  return found.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

function daemonSetsSelecting({ metadata }: Pod | ControllerRevision, lookup: Lookup): readonly string[] {
  const candidates = selecting(lookup.informer(daemonSets), metadata.namespace, metadata.labels)
  return candidates.filter((daemonSet) => selectorOf(daemonSet).matches(metadata.labels)).map(keyOf)
}

/** Of a node's many updates, nearly all of which say that it is well, only those of what decides which pods it gets. */
function changesEligibility(change: Change<Node>): boolean {
  if (change.type !== 'update') return true
  const { old, object } = change
  return !deepEqual(old.spec?.taints, object.spec?.taints) || !deepEqual(old.metadata.labels, object.metadata.labels)
}

/** The daemon sets to which a node is something: they gain or lose a pod by it. */
function daemonSetsOf(node: Node, lookup: Lookup): readonly string[] {
  const all = lookup.informer(daemonSets).list()
  return all.filter((daemonSet) => eligibility(daemonSet)(node) !== 'none').map(keyOf)
}
