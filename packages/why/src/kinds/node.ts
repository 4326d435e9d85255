import {
  type Node,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  pods,
  selectorFromLabelSelector,
} from '@coracle/api'
import { conditionOf, saidBy } from '../conditions.ts'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { controllerOf, hasEnded, isGoing, isReady } from '../owners.ts'
import { taintText } from './pod/scheduling.ts'

type NodeFacts = Facts<Node>

export const nodeRules: KindRules<Node> = {
  reads: ({ metadata: { name }, spec }) =>
    spec?.unschedulable === true
      ? [{ resource: pods, fieldSelector: `spec.nodeName=${name}` }, { resource: podDisruptionBudgets }]
      : [],
  rules: [silent, underPressure, drainBlocked, cordoned, tainted],
  leads: (facts) => blocking(facts).map(({ budget }) => budget),
}

function silent({ object }: NodeFacts): Diagnosis | undefined {
  const condition = conditionOf(object, 'Ready')
  if (condition?.status === 'True') return undefined
  if (condition === undefined) {
    return {
      reason: 'NodeNeverReported',
      what: 'it has not reported so far: no pods come to it',
      because: 'it has no condition Ready',
      remedy: 'see that its agent runs and reaches the server',
    }
  }
  const isUnknown = condition.status === 'Unknown'
  return {
    reason: isUnknown ? 'NodeSilent' : 'NodeNotReady',
    what: 'it is not ready: pods come to it no more, and leave it',
    because: saidBy(condition),
    remedy: isUnknown ? 'see that its agent runs and reaches the server' : 'mend what its agent names',
  }
}

const pressures: Readonly<Record<string, string>> = {
  MemoryPressure: 'memory',
  DiskPressure: 'disk space: images and containers that nobody needs, and logs',
  PIDPressure: 'process numbers',
}

function underPressure({ object }: NodeFacts): readonly Diagnosis[] {
  return Object.entries(pressures).flatMap(([type, lack]): readonly Diagnosis[] => {
    const condition = conditionOf(object, type)
    if (condition?.status !== 'True') return []
    return [
      {
        reason: type,
        what: 'it evicts pods, and takes no new ones',
        because: saidBy(condition),
        remedy: `give it more, or free some, of its ${lack}`,
      },
    ]
  })
}

function cordoned({ object }: NodeFacts): Diagnosis | undefined {
  if (object.spec?.unschedulable !== true) return undefined
  return {
    reason: 'Cordoned',
    what: 'no new pods come to it',
    because: 'it is cordoned',
    remedy: `\`coracle uncordon ${object.metadata.name}\``,
  }
}

interface Blocked {
  readonly pod: Pod
  readonly budget: PodDisruptionBudget
}

/** A pod that is not ready may be evicted without its budget, by its policy or since enough others are healthy (https://kep.k8s.io/3017). */
function mayGoUnhealthy(pod: Pod, { spec, status }: Pick<PodDisruptionBudget, 'spec' | 'status'>): boolean {
  if (isReady(pod)) return false
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy)
}

/** Pods that a drain may not evict at the moment, each with its budget. */
function blocking({ object, some }: NodeFacts): readonly Blocked[] {
  if (object.spec?.unschedulable !== true) return []
  const left = some(pods).filter(
    (pod) =>
      !hasEnded(pod) && pod.status?.phase !== 'Pending' && !isGoing(pod) && controllerOf(pod)?.kind !== 'DaemonSet',
  )
  return left.flatMap((pod) => {
    const budget = some(podDisruptionBudgets).find(
      ({ metadata, spec, status }) =>
        metadata.namespace === pod.metadata.namespace &&
        (status?.disruptionsAllowed ?? 0) <= 0 &&
        !mayGoUnhealthy(pod, { spec, status }) &&
        selectorFromLabelSelector(spec?.selector).matches(pod.metadata.labels ?? {}),
    )
    return budget === undefined ? [] : [{ pod, budget }]
  })
}

function drainBlocked(facts: NodeFacts): Diagnosis | undefined {
  const blocked = blocking(facts)
  const [first] = blocked
  if (first === undefined) return undefined
  const { pod, budget } = first
  const more = blocked.length === 1 ? '' : `, and ${blocked.length - 1} more`
  return {
    reason: 'DrainBlocked',
    what: 'it cannot be drained at the moment',
    because: `pod ${pod.metadata.namespace}/${pod.metadata.name} may not be evicted: poddisruptionbudget/${budget.metadata.name} allows no disruption${more}`,
    remedy: `ask \`coracle why pdb/${budget.metadata.name} -n ${budget.metadata.namespace}\``,
    isSymptom: true,
  }
}

/** Taints that somebody has set: nothing is wrong with them, and they keep pods away. */
function tainted({ object }: NodeFacts): Diagnosis | undefined {
  const own = (object.spec?.taints ?? []).filter(
    ({ key = '', effect }) => effect !== 'PreferNoSchedule' && !key.startsWith('node.kubernetes.io/'),
  )
  if (own.length === 0) return undefined
  return {
    reason: 'Tainted',
    what: 'only pods that tolerate its taints come to it',
    because: own.map(taintText).join(', '),
    remedy: `\`coracle taint nodes ${object.metadata.name} ${own[0] === undefined ? '' : taintText(own[0])}-\` takes the first away`,
    state: 'hint',
  }
}
