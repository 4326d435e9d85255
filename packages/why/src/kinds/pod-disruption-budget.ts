import { type Pod, type PodDisruptionBudget, pods, selectorFromLabelSelector } from '@coracle/api'
import { conditionOf, saidBy } from '../conditions.ts'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { hasEnded, troubled } from '../owners.ts'

type BudgetFacts = Facts<PodDisruptionBudget>

export const budgetRules: KindRules<PodDisruptionBudget> = {
  reads: ({ metadata: { namespace }, spec }) => {
    const labelSelector = selectorFromLabelSelector(spec?.selector).toString()
    return labelSelector === '' ? [] : [{ resource: pods, namespace, labelSelector }]
  },
  rules: [notCounted, selectsNothing, allowsNone, tooFewHealthy],
  leads: (facts) => (isExhausted(facts) ? troubled(ownPods(facts)) : []),
}

const ownPods = ({ some }: BudgetFacts): readonly Pod[] => some(pods).filter((pod) => !hasEnded(pod))

const isExhausted = ({ object: { status } }: BudgetFacts): boolean =>
  status !== undefined && status.disruptionsAllowed <= 0 && status.expectedPods > 0

function notCounted({ object }: BudgetFacts): Diagnosis | undefined {
  const condition = conditionOf(object, 'DisruptionAllowed')
  if (condition?.reason !== 'SyncFailed') return undefined
  return {
    reason: 'SyncFailed',
    what: 'it allows no eviction, since its pods cannot be counted',
    because: saidBy(condition),
    remedy: 'select only pods whose controllers say how many there are to be, or use minAvailable with a number',
  }
}

function selectsNothing({ object, all }: BudgetFacts): Diagnosis | undefined {
  const known = all(pods)
  if (known === undefined || known.length > 0 || object.spec?.selector === undefined) return undefined
  return {
    reason: 'SelectorMatchesNothing',
    what: 'it guards nothing',
    because: `no pod has the labels it selects: ${selectorFromLabelSelector(object.spec.selector).toString()}`,
    remedy: 'compare spec.selector with the labels of the pods that are meant',
    state: 'hint',
  }
}

/** However many pods are well, none may go. */
function allowsNone(facts: BudgetFacts): Diagnosis | undefined {
  const { object } = facts
  const { status, spec, metadata } = object
  if (!isExhausted(facts) || status === undefined || status.desiredHealthy < status.expectedPods) return undefined
  const rule =
    spec?.maxUnavailable === undefined
      ? `minAvailable is ${spec?.minAvailable}`
      : `maxUnavailable is ${spec.maxUnavailable}`
  return {
    reason: 'BudgetAllowsNone',
    what: 'it never allows an eviction: a drain waits for ever',
    because: `${rule}, and there are to be ${status.expectedPods} pods, all of which have to be healthy`,
    remedy: `add a replica, or let one pod be missing: \`coracle patch pdb/${metadata.name} --type merge -p '{"spec":{"maxUnavailable":1,"minAvailable":null}}'\``,
  }
}

function tooFewHealthy(facts: BudgetFacts): Diagnosis | undefined {
  const { status } = facts.object
  if (!isExhausted(facts) || status === undefined || status.desiredHealthy >= status.expectedPods) return undefined
  return {
    reason: 'BudgetExhausted',
    what: 'it allows no eviction at the moment',
    because: `${status.currentHealthy} pods are healthy, and ${status.desiredHealthy} of ${status.expectedPods} have to be`,
    remedy: 'it allows one again when more pods are ready',
    isSymptom: true,
    state: 'waiting',
  }
}
