import {
  compareRevisions,
  type Deployment,
  deploymentRevision,
  type ReplicaSet,
  replicaSets,
  selectorFromLabelSelector,
} from '@coracle/api'
import { conditionOf, saidBy } from '../conditions.ts'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { isControlledBy, isGoing } from '../owners.ts'
import { refusalOf } from '../rules/refusals.ts'
import { refusedPods, underWay } from './replicas.ts'

type DeploymentFacts = Facts<Deployment>

export const deploymentRules: KindRules<Deployment> = {
  reads: ({ metadata: { namespace }, spec }) => {
    const labelSelector = selectorFromLabelSelector(spec.selector).toString()
    return labelSelector === '' ? [] : [{ resource: replicaSets, namespace, labelSelector }]
  },
  rules: [paused, refusedSets, refusedPodsOfSets, pastDeadline],
  leads: unfinishedSets,
  behind: notRolledOut,
}

const isUnfinished = ({ spec, status }: ReplicaSet): boolean =>
  (spec.replicas ?? 1) !== (status?.readyReplicas ?? 0) || (spec.replicas ?? 1) !== (status?.replicas ?? 0)

/** Its ReplicaSets that are not as they are to be, the newest first. */
function unfinishedSets({ object, some }: DeploymentFacts): readonly ReplicaSet[] {
  const own = some(replicaSets).filter((set) => isControlledBy(set, object))
  return own
    .filter((set) => isUnfinished(set) || isGoing(set))
    .toSorted((a, b) => compareRevisions(revisionOf(b), revisionOf(a)))
}

const revisionOf = ({ metadata }: ReplicaSet): bigint => deploymentRevision(metadata) ?? 0n

/** A paused rollout holds nothing up where there is nothing to roll out. */
function paused({ object }: DeploymentFacts): Diagnosis | undefined {
  const { spec, status, metadata } = object
  if (spec.paused !== true) return undefined
  const isBehind = (status?.updatedReplicas ?? 0) < (spec.replicas ?? 1)
  return {
    reason: 'Paused',
    what: 'it is not rolled out',
    because: 'it is paused: changes of its template have no effect',
    remedy: `\`coracle rollout resume deployment/${metadata.name}\``,
    state: isBehind ? 'stuck' : 'hint',
  }
}

/** Not even the ReplicaSet can be made. */
function refusedSets({ object, events }: DeploymentFacts): Diagnosis | undefined {
  const condition = conditionOf(object, 'Progressing')
  if (condition?.reason !== 'ReplicaSetCreateError') return undefined
  const because = events.findLast(({ reason }) => reason === 'ReplicaSetCreateError')?.message ?? saidBy(condition)
  const { reason, remedy } = refusalOf(because)
  return {
    reason: 'ReplicaSetRefused',
    what: 'its ReplicaSet cannot be created',
    because,
    remedy: reason === 'CreationRefused' ? remedy : `correct its template, or what refuses it: ${remedy}`,
  }
}

/**
 * A paused Deployment's condition is not written anew: whether pods are refused is in those of its ReplicaSets, where they are known.
 * One that has as many pods as it is to have asks for none, whatever its condition says still.
 */
function refusedPodsOfSets(facts: DeploymentFacts): Diagnosis | undefined {
  const own = facts.all(replicaSets)?.filter((set) => isControlledBy(set, facts.object))
  const isOver = own?.every((set) => conditionOf(set, 'ReplicaFailure')?.status !== 'True' || !lacksPods(set))
  return isOver === true ? undefined : refusedPods(facts)
}

const lacksPods = ({ spec, status }: ReplicaSet): boolean => (status?.replicas ?? 0) < (spec.replicas ?? 1)

function pastDeadline({ object }: DeploymentFacts): Diagnosis | undefined {
  const condition = conditionOf(object, 'Progressing')
  if (condition?.status !== 'False' || condition.reason !== 'ProgressDeadlineExceeded') return undefined
  return {
    reason: 'ProgressDeadlineExceeded',
    what: 'its rollout does not get on',
    because: saidBy(condition),
    remedy: `see what holds its pods up, or go back: \`coracle rollout undo deployment/${object.metadata.name}\``,
    isSymptom: true,
  }
}

function notRolledOut({ object, some }: DeploymentFacts): Diagnosis | undefined {
  const { spec, status = {}, metadata } = object
  if (metadata.deletionTimestamp !== undefined) return undefined
  const wanted = spec.replicas ?? 1
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0, readyReplicas = 0 } = status
  if (updatedReplicas === wanted && availableReplicas === wanted && replicas === wanted) return undefined
  if (
    readyReplicas === wanted &&
    updatedReplicas === wanted &&
    replicas === wanted &&
    (spec.minReadySeconds ?? 0) > 0
  ) {
    return {
      reason: 'MinReadySeconds',
      what: `its status counts ${availableReplicas} of ${wanted} pods as available`,
      because: `a pod counts as available ${spec.minReadySeconds} s after it has become ready (spec.minReadySeconds)`,
      remedy: 'wait for that time',
      state: 'waiting',
    }
  }
  const own = some(replicaSets).filter((set) => isControlledBy(set, object)).length
  return underWay(
    `its status counts ${availableReplicas} of ${wanted} pods as available, ${updatedReplicas} as of the latest template`,
    `${replicas} exist, of ${own} ${own === 1 ? 'ReplicaSet' : 'ReplicaSets'}`,
  )
}
