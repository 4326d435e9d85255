import type { CronJob, Deployment, Job, Node, PersistentVolumeClaim, Service } from '@coracle/api'
import type { Explainer, Facts, Stuck } from './facts.ts'
import { conditionOf, saidBy } from './object-explainers.ts'
import { podExplainers } from './pod-explainers.ts'

/** What can hold up objects of other kinds than pods. */
export const workloadExplainers: Readonly<Record<string, readonly Explainer[]>> = {
  Deployment: [paused, refusedPods, pastDeadline, waitsForPods],
  ReplicaSet: [refusedPods, waitsForPods],
  ReplicationController: [refusedPods, waitsForPods],
  StatefulSet: [waitsForPods],
  DaemonSet: [waitsForPods],
  Job: [suspended, waitsForJobs, failedJob, waitsForPods],
  CronJob: [suspendedSchedule],
  Service: [selectsNothing, nothingReady],
  PersistentVolumeClaim: [unbound],
  HorizontalPodAutoscaler: [notScaling],
  Namespace: [holdsContent],
  Node: [silent, cordoned],
}

function paused({ object }: Facts) {
  if ((object as Deployment).spec.paused !== true) return undefined
  return {
    what: 'it is not rolled out',
    because: 'it is paused: changes of its template have no effect',
    remedy: `\`coracle rollout resume deployment/${object.metadata.name}\``,
  }
}

function refusedPods(facts: Facts) {
  const condition = conditionOf(facts, 'ReplicaFailure')
  if (condition?.status !== 'True') return undefined
  const isQuota = /exceeded quota|failed quota/.test(condition.message ?? '')
  return {
    what: 'its pods cannot be created',
    because: saidBy(condition),
    remedy: isQuota ? 'raise the quota, or ask for less' : 'correct its template, or what refuses it',
  }
}

function pastDeadline(facts: Facts) {
  const condition = conditionOf(facts, 'Progressing')
  if (condition?.status !== 'False' || condition.reason !== 'ProgressDeadlineExceeded') return undefined
  return {
    what: 'its rollout does not get on',
    because: saidBy(condition),
    remedy: `see what holds its pods up, or go back: \`coracle rollout undo deployment/${facts.object.metadata.name}\``,
  }
}

/** The first of its pods that is held up, and by what. */
function waitsForPods(facts: Facts): Stuck | undefined {
  for (const pod of facts.pods) {
    if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Succeeded') continue
    const around = { ...facts, object: pod, pods: [], claims: [], events: [] }
    for (const explain of podExplainers) {
      const stuck = explain(around)
      if (stuck === undefined) continue
      return { ...stuck, what: `pod ${pod.metadata.name}: ${stuck.what}` }
    }
  }
  return undefined
}

function suspended({ object }: Facts) {
  if ((object as Job).spec.suspend !== true) return undefined
  return { what: 'it does not run', because: 'it is suspended', remedy: 'set spec.suspend to false' }
}

function waitsForJobs(facts: Facts) {
  const condition = conditionOf(facts, 'coracle.dev/Waiting')
  if (condition?.status !== 'True') return undefined
  return {
    what: 'it has not begun',
    because: saidBy(condition),
    remedy: 'it begins when those Jobs are complete: ask why they are not',
  }
}

function failedJob(facts: Facts) {
  const condition = conditionOf(facts, 'Failed')
  if (condition?.status !== 'True') return undefined
  return {
    what: 'it has failed',
    because: condition.message === undefined ? (condition.reason ?? '') : `${condition.reason}: ${condition.message}`,
    remedy: 'a Job that has failed does not run again: read the logs of its pods, and create another',
  }
}

function suspendedSchedule({ object }: Facts) {
  if ((object as CronJob).spec.suspend !== true) return undefined
  return { what: 'it starts no Jobs', because: 'it is suspended', remedy: 'set spec.suspend to false' }
}

function selectsNothing({ object, pods }: Facts) {
  const { selector = {}, type } = (object as Service).spec ?? {}
  if (type === 'ExternalName' || Object.keys(selector).length === 0 || pods.length > 0) return undefined
  const text = Object.entries(selector).map(([key, value]) => `${key}=${value}`)
  return {
    what: 'it has no endpoints',
    because: `no pod has the labels it selects: ${text.join(',')}`,
    remedy: 'compare spec.selector with the labels of the pods that are meant',
  }
}

function nothingReady(facts: Facts) {
  const { pods } = facts
  const isReady = (pod: (typeof pods)[number]) =>
    pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  if (pods.length === 0 || pods.some(isReady)) return undefined
  const stuck = waitsForPods(facts)
  const because = `it selects ${pods.length} pods, and none of them is ready`
  return {
    what: 'it has no endpoints that take requests',
    because: stuck === undefined ? because : `${because}; ${stuck.what}: ${stuck.because}`,
    remedy: stuck?.remedy ?? 'wait for the pods to be ready, or ask why they are not',
  }
}

function unbound({ object, events }: Facts) {
  const { status, spec } = object as PersistentVolumeClaim
  if (status?.phase !== 'Pending') return undefined
  const told = events.findLast(({ reason }) => reason !== 'ExternalProvisioning')
  return {
    what: 'it is not bound to a volume',
    because: told?.message ?? `no volume fits it${spec?.storageClassName ? ` in class ${spec.storageClassName}` : ''}`,
    remedy:
      'a claim that waits for its first consumer is bound with the first pod that uses it; others need a fitting volume, or a class that makes one',
  }
}

function notScaling(facts: Facts) {
  const failing = ['AbleToScale', 'ScalingActive']
    .map((type) => conditionOf(facts, type))
    .find((condition) => condition?.status === 'False')
  if (failing === undefined) return undefined
  return {
    what: 'it does not scale',
    because: saidBy(failing),
    remedy:
      'see that its target exists and that its metrics can be had (`coracle top pods`), and that its pods have requests',
  }
}

function holdsContent(facts: Facts) {
  if (facts.object.metadata.deletionTimestamp === undefined) return undefined
  const told = [
    'NamespaceDeletionContentFailure',
    'NamespaceDeletionDiscoveryFailure',
    'NamespaceFinalizersRemaining',
    'NamespaceContentRemaining',
  ]
    .map((type) => conditionOf(facts, type))
    .find((condition) => condition?.status === 'True')
  if (told === undefined) return undefined
  return {
    what: 'it is being deleted and does not go',
    because: saidBy(told),
    remedy: 'ask why of the objects that are left: mostly a finalizer holds them',
  }
}

function silent(facts: Facts) {
  const condition = conditionOf(facts, 'Ready')
  if (condition === undefined || condition.status === 'True') return undefined
  return {
    what: 'it is not ready: pods come to it no more, and leave it',
    because: saidBy(condition),
    remedy: 'see that its agent runs and reaches the server',
  }
}

function cordoned({ object }: Facts) {
  if ((object as Node).spec?.unschedulable !== true) return undefined
  return {
    what: 'no new pods come to it',
    because: 'it is cordoned',
    remedy: `\`coracle uncordon ${object.metadata.name}\``,
  }
}
