import {
  claimsOfPod,
  humanDuration,
  type Node,
  nodes,
  type PersistentVolumeClaim,
  type Pod,
  parseTime,
  persistentVolumeClaims,
  resourceClaimTemplates,
} from '@coracle/api'
import { conditionOf, saidBy, sinceMs } from '../../conditions.ts'
import type { Facts, KindRules } from '../../facts.ts'
import type { Diagnosis } from '../../finding.ts'
import { controllerOf, hasEnded, isReady } from '../../owners.ts'
import { cannotStart, crashLoops, failedContainer, initializing, notReady, starting } from './containers.ts'
import { gated, isAssigned, notLookedAt, templateMissing, unschedulable } from './scheduling.ts'

type PodFacts = Facts<Pod>

/** What can hold up a pod, in the order in which it meets it. */
export const podRules: KindRules<Pod> = {
  reads: (pod) => [
    ...(claimsOfPod(pod).length === 0 ? [] : [{ resource: persistentVolumeClaims, namespace: pod.metadata.namespace }]),
    ...(pod.spec.resourceClaims?.some(({ resourceClaimTemplateName }) => resourceClaimTemplateName !== undefined)
      ? [{ resource: resourceClaimTemplates, namespace: pod.metadata.namespace }]
      : []),
    { resource: nodes, ...(isAssigned(pod) ? { fieldSelector: `metadata.name=${pod.spec.nodeName}` } : {}) },
  ],
  rules: [
    disrupted,
    ending,
    failed,
    gated,
    templateMissing,
    claimsMissing,
    claimsUnbound,
    unschedulable,
    notLookedAt,
    nodeLost,
    notTakenOn,
    cannotStart,
    crashLoops,
    initializing,
    starting,
    notReady,
  ],
  leads: (facts) => [...unboundClaims(facts), ...silentNodes(facts)],
  behind: notServing,
}

/** What a pod is removed for, where it is not simply deleted: https://kep.k8s.io/3329. */
const disruptions: Readonly<Record<string, readonly [reason: string, what: string]>> = {
  EvictionByEvictionAPI: ['Evicted', 'it was evicted, as a drain does'],
  DeletionByTaintManager: ['EvictedByTaint', 'it was removed for a taint of its node'],
  PreemptionByScheduler: ['Preempted', 'it had to make room for a more important pod'],
  DeletionByPodGC: ['NodeGone', 'its node is gone'],
  DeletionByDeviceTaintManager: ['EvictedByDeviceTaint', 'it was removed for a taint of its device'],
  TerminationByKubelet: ['EvictedByNode', 'its node has ended it'],
}

function disrupted({ object: pod }: PodFacts): Diagnosis | undefined {
  const condition = conditionOf(pod, 'DisruptionTarget')
  if (condition?.status !== 'True') return undefined
  if (!hasEnded(pod) && pod.metadata.deletionTimestamp === undefined) return undefined
  const [reason, what] = disruptions[condition.reason ?? ''] ?? ['Disrupted', 'it was removed']
  return {
    reason,
    what,
    because: pod.status?.message || saidBy(condition),
    remedy: replacementOf(pod),
    state: 'waiting',
  }
}

/** The server gives a pod so many milliseconds after its grace period to go, if its node is there. */
const overdueMs = 30_000

/** A pod goes when its node says that its containers have ended. */
function ending(facts: PodFacts): Diagnosis | undefined {
  const { object: pod, nowMs } = facts
  const { deletionTimestamp, name } = pod.metadata
  if (deletionTimestamp === undefined || hasEnded(pod) || !isAssigned(pod)) return undefined
  const silent = nodeTrouble(facts)
  if (silent !== undefined) {
    return {
      reason: 'NodeSilent',
      what: 'it is being deleted and does not go',
      because: `${silent}: only its node can say that its containers have ended`,
      remedy: `bring the node back, delete it from the cluster, or, where it is off for good, \`coracle delete pod ${name} --force --grace-period=0\``,
    }
  }
  const overMs = nowMs - parseTime(deletionTimestamp)
  if (overMs <= overdueMs) {
    const grace = pod.metadata.deletionGracePeriodSeconds ?? 0
    return {
      reason: 'Ending',
      what: 'it is being deleted',
      because: `its containers have ${grace} s to end, until ${deletionTimestamp}`,
      remedy: 'it goes when they have ended',
      state: 'waiting',
    }
  }
  return {
    reason: 'EndingOverdue',
    what: 'it is being deleted and does not go',
    because: `its containers should have ended ${humanDuration(overMs)} ago, and node ${pod.spec.nodeName} has not said so`,
    remedy: `see what the node is about: \`coracle why node/${pod.spec.nodeName}\`; \`coracle delete pod ${name} --force --grace-period=0\` does not wait for it`,
  }
}

function failed({ object: pod }: PodFacts): Diagnosis | undefined {
  const { status } = pod
  if (status?.phase !== 'Failed' || conditionOf(pod, 'DisruptionTarget')?.status === 'True') return undefined
  const { reason = '', message = '' } = status
  const container = failedContainer(pod)
  const said = message || reason
  if (said !== '' || container === undefined) {
    const told = reason === '' ? 'PodFailed' : reason
    return {
      reason: told === 'Evicted' ? 'EvictedByNode' : told,
      what: reason === 'Evicted' ? 'its node has evicted it' : 'it has failed for good',
      because: said === '' ? 'its containers have ended with an error' : said,
      remedy: replacementOf(pod),
    }
  }
  const { because, diagnosis } = container
  return {
    reason: 'ContainerFailed',
    what: 'it has failed for good',
    because,
    remedy: '',
    ...diagnosis,
  }
}

/** Who makes another pod in the place of one that has gone. */
function replacementOf(pod: Pod): string {
  const owner = controllerOf(pod)
  return owner === undefined
    ? 'nobody owns it, so nobody makes another: create it again'
    : `${owner.kind.toLowerCase()}/${owner.name} owns it, and makes another where one is wanted`
}

function claimsMissing({ object: pod, all }: PodFacts): Diagnosis | undefined {
  const known = all(persistentVolumeClaims)
  if (isAssigned(pod) || hasEnded(pod) || known === undefined) return undefined
  const missing = claimsOfPod(pod).filter((name) => !known.some(({ metadata }) => metadata.name === name))
  if (missing.length === 0) return undefined
  return {
    reason: 'ClaimMissing',
    what: 'its volumes are not there',
    because: `there is no claim ${missing.join(', ')} in namespace ${pod.metadata.namespace}`,
    remedy: `create persistentvolumeclaim/${missing[0]}, or name another in spec.volumes`,
  }
}

function unboundClaims({ object: pod, some }: PodFacts): readonly PersistentVolumeClaim[] {
  if (isAssigned(pod) || hasEnded(pod)) return []
  const own = new Set(claimsOfPod(pod))
  return some(persistentVolumeClaims).filter(
    ({ metadata, status }) => own.has(metadata.name ?? '') && status?.phase !== 'Bound',
  )
}

function claimsUnbound(facts: PodFacts): Diagnosis | undefined {
  const unbound = unboundClaims(facts)
  const [first] = unbound
  if (first === undefined) return undefined
  return {
    reason: 'ClaimUnbound',
    what: 'its volumes are not there',
    because: `${unbound.length === 1 ? 'a claim is' : 'claims are'} not bound: ${unbound.map(({ metadata }) => metadata.name).join(', ')}`,
    remedy: `ask \`coracle why pvc/${first.metadata.name}\``,
    isSymptom: true,
  }
}

const isNodeReady = (node: Node): boolean => conditionOf(node, 'Ready')?.status === 'True'

const silentNodes = ({ object, some }: PodFacts): readonly Node[] =>
  isAssigned(object) && !hasEnded(object) ? some(nodes).filter((node) => !isNodeReady(node)) : []

/** What is wrong with the node that a pod is on. */
function nodeTrouble({ object: { spec }, all }: PodFacts): string | undefined {
  const known = all(nodes)
  if (known === undefined) return undefined
  const [node] = known
  if (node === undefined) return `node ${spec.nodeName} is not there`
  if (isNodeReady(node)) return undefined
  const ready = conditionOf(node, 'Ready')
  return `node ${spec.nodeName} is not ready${ready === undefined ? '' : ` (${ready.status}: ${saidBy(ready)})`}`
}

/** A node that does not report: nobody knows what its pods do. */
function nodeLost(facts: PodFacts): Diagnosis | undefined {
  const { object: pod } = facts
  if (!isAssigned(pod) || hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined) return undefined
  const trouble = nodeTrouble(facts)
  if (trouble === undefined) return undefined
  return {
    reason: 'NodeLost',
    what: 'its node does not look after it',
    because: trouble,
    remedy: `bring the node back: \`coracle why node/${pod.spec.nodeName}\`; pods that a controller owns are made anew elsewhere, after five minutes unless they say otherwise`,
    isSymptom: true,
  }
}

/** A node has begun with a pod well before so many milliseconds, if its agent runs. */
const takenOnAfterMs = 30_000

function notTakenOn(facts: PodFacts): Diagnosis | undefined {
  const { object: pod, nowMs } = facts
  const { spec, status, metadata } = pod
  if (!isAssigned(pod) || status?.startTime !== undefined || metadata.deletionTimestamp !== undefined) return undefined
  if (hasEnded(pod) || nodeTrouble(facts) !== undefined) return undefined
  const since = conditionOf(pod, 'PodScheduled')?.lastTransitionTime ?? metadata.creationTimestamp
  const isFresh = sinceMs(since, nowMs) < takenOnAfterMs
  return {
    reason: 'NotTakenOn',
    what: 'its node has not begun with it yet',
    because: `node ${spec.nodeName} has not taken it on`,
    remedy: isFresh
      ? 'it does so in a moment'
      : `see that the agent of the node runs: \`coracle why node/${spec.nodeName}\``,
    state: isFresh ? 'waiting' : 'stuck',
  }
}

/** It is not ready, and nothing is known to be wrong. */
function notServing({ object: pod, nowMs }: PodFacts): Diagnosis | undefined {
  if (hasEnded(pod) || isReady(pod)) return undefined
  const age = humanDuration(sinceMs(pod.metadata.creationTimestamp, nowMs))
  return {
    reason: 'Starting',
    what: 'it is not ready yet',
    because: `it is ${pod.status?.phase ?? 'Pending'}, ${age} after it was created`,
    remedy: 'it becomes ready when all of its containers are',
    state: 'waiting',
  }
}
