import { daemonSets, deepEqual, type Node, nodes } from '@coracle/api'
import { keyOf } from '@coracle/client'
import type { Change, Controller, Lookup } from '@coracle/controller-runtime'
import { performUnlessGoing } from '../namespace/perform-unless-going.ts'
import { controllerOfRevised, observeBelongings } from '../revisions/belongings.ts'
import { eligibility } from './eligibility.ts'
import { DaemonPodFailures } from './failures.ts'
import { planDaemonSet } from './plan.ts'

/** Keeps a pod of each daemon set on every node that fits. */
export function createDaemonSetController(): Controller {
  const failures = new DaemonPodFailures()
  return controllerOfRevised('daemon-set-controller', daemonSets, { component: 'daemonset-controller' })
    .watches(nodes, (node, lookup) => daemonSetsOf(node, lookup), { predicates: [changesEligibility] })
    .reconcile(async ({ object }, context) => {
      const observed = object === undefined ? undefined : await observeBelongings(context, object)
      if (observed === undefined) return undefined
      const { owner: daemonSet, belongings } = observed
      const { uid = '' } = daemonSet.metadata
      // Nobody puts this clock back: a pod that has failed would then be left alone for as long.
      const passedMs = context.clock.monotonicMs()
      const waitAfterFailureMs = (nodeName: string) => failures.waitMs(uid, nodeName, passedMs)
      const allNodes = context.informer(nodes).list()
      const plan = planDaemonSet({ daemonSet, nodes: allNodes, ...belongings, waitAfterFailureMs }, context.clock.now())
      for (const nodeName of plan.failedOn) failures.record(uid, nodeName, passedMs)
      return performUnlessGoing(context, daemonSet, plan)
    })
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
