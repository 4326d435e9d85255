import {
  type DaemonSet,
  type Node,
  nodes,
  pods,
  requiredNodeMatcher,
  selectorFromLabelSelector,
  type Toleration,
} from '@coracle/api'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { isGoing } from '../owners.ts'
import { isUntolerated, taintText } from './pod/scheduling.ts'
import { refusedByEvents, troubledPods, underWay } from './replicas.ts'

type SetFacts = Facts<DaemonSet>

export const daemonSetRules: KindRules<DaemonSet> = {
  reads: ({ metadata: { namespace }, spec }) => {
    const labelSelector = selectorFromLabelSelector(spec.selector).toString()
    return [{ resource: nodes }, ...(labelSelector === '' ? [] : [{ resource: pods, namespace, labelSelector }])]
  },
  rules: [refusedPods, noNodeMatches, updatedOnDelete],
  leads: troubledPods,
  behind: notEverywhere,
}

function refusedPods(facts: SetFacts): Diagnosis | undefined {
  const { currentNumberScheduled = 0, desiredNumberScheduled = 0 } = facts.object.status ?? {}
  return currentNumberScheduled < desiredNumberScheduled ? refusedByEvents(facts) : undefined
}

/** Every node is left out, or some are. */
function noNodeMatches({ object, all }: SetFacts): Diagnosis | undefined {
  const known = all(nodes)
  if (known === undefined || isGoing(object)) return undefined
  if (known.length === 0) {
    const because = 'the cluster has no nodes, and a DaemonSet has a pod on each'
    return { reason: 'NoNodes', what: 'it has no pods', because, remedy: 'start a node', state: 'waiting' }
  }
  const reasons = known.flatMap((node) => {
    const why = whyLeftOut(object, node)
    return why === undefined ? [] : [`${node.metadata.name}: ${why}`]
  })
  if (reasons.length === 0) return undefined
  const shown =
    reasons.length > shownMax ? [...reasons.slice(0, shownMax), `${reasons.length - shownMax} more`] : reasons
  const isEvery = reasons.length === known.length
  return {
    reason: 'NodesNotMatched',
    what: isEvery ? 'no node takes its pods' : `${reasons.length} of ${known.length} nodes do not take its pods`,
    because: shown.join('; '),
    remedy:
      'label the nodes as its node selector and affinity ask for, tolerate their taints, or leave them out on purpose',
    state: isEvery ? 'stuck' : 'hint',
  }
}

/** Nodes that are named with what they lack. */
const shownMax = 3

function whyLeftOut({ spec }: DaemonSet, node: Node): string | undefined {
  const pod = spec.template.spec
  if (pod === undefined) return undefined
  if (requiredNodeMatcher(pod)?.(node) === false) {
    const wanted = Object.entries(pod.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`)
    return wanted.length === 0
      ? 'its labels are not those of the node affinity'
      : `it is not labelled ${wanted.join(',')}`
  }
  const tolerations = [...(pod.tolerations ?? []), ...alwaysTolerated]
  const taint = node.spec?.taints?.find((each) => isUntolerated(each, tolerations))
  return taint === undefined ? undefined : `it is tainted ${taintText(taint)}`
}

/** What the controller makes every pod of a DaemonSet tolerate. */
const alwaysTolerated: readonly Toleration[] = [
  'not-ready',
  'unreachable',
  'disk-pressure',
  'memory-pressure',
  'pid-pressure',
  'unschedulable',
  'network-unavailable',
].map((name) => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists' }))

function updatedOnDelete({ object }: SetFacts): Diagnosis | undefined {
  const { spec, status } = object
  const { updatedNumberScheduled = 0, desiredNumberScheduled = 0 } = status ?? {}
  if (spec.updateStrategy?.type !== 'OnDelete' || updatedNumberScheduled >= desiredNumberScheduled) return undefined
  return {
    reason: 'UpdatedOnDelete',
    what: `its status counts ${updatedNumberScheduled} of ${desiredNumberScheduled} pods as of the latest template`,
    because: 'spec.updateStrategy is OnDelete: a pod gets the latest template when it is deleted',
    remedy: 'delete the old pods one by one, or say RollingUpdate',
  }
}

function notEverywhere({ object }: SetFacts): Diagnosis | undefined {
  const { desiredNumberScheduled: wanted = 0, numberAvailable = 0, updatedNumberScheduled = 0 } = object.status ?? {}
  if (isGoing(object) || (numberAvailable === wanted && updatedNumberScheduled === wanted)) return undefined
  return underWay(
    `its status counts ${numberAvailable} of ${wanted} pods as available`,
    `${updatedNumberScheduled} are counted as of the latest template`,
  )
}
