import {
  type ControllerRevision,
  controllerRevisions,
  type DaemonSet,
  daemonSets,
  deepEqual,
  type Node,
  nodes,
  type Pod,
  pods,
} from '@coracle/api'
import { controllerIndexName, type Informer, keyOf, keyText } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  controllerOf,
  filedBySelector,
  type Lookup,
  liveOwner,
  selected,
  selecting,
  selectorIndexName,
} from '@coracle/controller-runtime'
import { performUnlessGoing } from '../namespace/perform-unless-going.ts'
import { isOrphan, orphanIndexName, orphansByLabels } from '../pods/orphans.ts'
import { changesReplicas } from '../replicas/controller.ts'
import { orphanRevisionsByLabels } from '../revisions/orphans.ts'
import { ownSelector } from '../selector-of.ts'
import { eligibility } from './eligibility.ts'
import { DaemonPodFailures } from './failures.ts'
import { planDaemonSet } from './plan.ts'

/** Keeps a pod of each daemon set on every node that fits. */
export function createDaemonSetController(): Controller {
  const failures = new DaemonPodFailures()
  return controller('daemon-set-controller', { component: 'daemonset-controller' })
    .for(daemonSets, { indexes: { [selectorIndexName]: filedBySelector<DaemonSet>(ownSelector) } })
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
      const selector = ownSelector(daemonSet)
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
      return performUnlessGoing(context, daemonSet, plan)
    })
}

function orphansOf<T extends Pod | ControllerRevision>(daemonSet: DaemonSet, informer: Informer<T>): readonly T[] {
  const { namespace } = daemonSet.metadata
  const found = selected(informer, orphanIndexName, namespace, ownSelector(daemonSet))
  return found.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

function daemonSetsSelecting({ metadata }: Pod | ControllerRevision, lookup: Lookup): readonly string[] {
  const candidates = selecting(lookup.informer(daemonSets), metadata.namespace, metadata.labels)
  return candidates.filter((daemonSet) => ownSelector(daemonSet).matches(metadata.labels)).map(keyOf)
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
