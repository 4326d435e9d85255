import {
  deepEqual,
  dependenciesOf,
  isJobFinished,
  type Job,
  jobLabels,
  jobs,
  type Namespace,
  namespaces,
  type Pod,
  pods as podResource,
  resourceQuotas,
} from '@coracle/api'
import { byController, controllerIndexName, type IndexFunction, keyOf, keyText } from '@coracle/client'
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
  removeFinalizer,
  selected,
  selecting,
  selectorIndexName,
} from '@coracle/controller-runtime'
import { failureOf } from '../failure-of.ts'
import { isOnlyNamespaceGoing } from '../namespace/perform-unless-going.ts'
import { type PodClaims, podClaimActions } from '../pods/claims.ts'
import { isActive, isReady } from '../pods/pod-state.ts'
import { jobRestMs } from '../pods/rest.ts'
import { givesRoom } from '../resource-quota/gives-room.ts'
import { selectorOf } from '../selector-of.ts'
import { isAtWork } from './at-work.ts'
import { judgeDependencies } from './dependencies.ts'
import { isTracked, trackingFinalizer } from './job-pods.ts'
import type { JobPlan } from './plan.ts'

/** The index of Jobs by those that they wait for. */
const dependentsIndexName = 'depends-on'
const byDependency: IndexFunction<Job> = (job) =>
  dependenciesOf(job).map((name) => keyText(job.metadata.namespace, name))

/** The index of pods that are to be counted, by the Job that made them, whether it is still there or has given them up, or not. */
const trackedIndexName = 'tracked-by-job'
const byTracking: IndexFunction<Pod> = (pod) => {
  if (!isTracked(pod)) return []
  const { namespace, labels, name } = pod.metadata
  const owner = controllerOf(pod)
  // One that nobody made has to lose its finalizer, too: it stands under its own name where no label tells a Job.
  if (owner === undefined) return [keyText(namespace, labels?.[jobLabels.jobName] ?? name ?? '')]
  return controllerOf(pod, jobs) === undefined ? [] : [keyText(namespace, owner.name)]
}

/** The index of pods that a Job may adopt, those that have ended among them: what they did counts. */
const adoptableIndexName = 'adoptable-by-job'
const isAdoptable = (pod: Pod): boolean =>
  controllerOf(pod) === undefined && pod.metadata.deletionTimestamp === undefined
const adoptableByLabels: IndexFunction<Pod> = (pod) => (isAdoptable(pod) ? filedByLabels(pod) : [])

const podIndexes = {
  [controllerIndexName]: byController,
  [trackedIndexName]: byTracking,
  [adoptableIndexName]: adoptableByLabels,
}

const selectorOfJob = ({ spec }: Job) => selectorOf(spec.selector)

/** Runs the pods of Jobs, and counts each of them once. */
export function createJobController(): Controller {
  let plans: typeof import('./plan.ts') | undefined
  return controller('job-controller', { component: 'job-controller' })
    .for(jobs, {
      indexes: { [dependentsIndexName]: byDependency, [selectorIndexName]: filedBySelector(selectorOfJob) },
    })
    .watches(jobs, dependents)
    .watches(namespaces, jobsGoingWith)
    .watches(podResource, jobsOf, { predicates: [changesJob], indexes: podIndexes })
    .retriesOn(resourceQuotas, { predicates: [givesRoom] })
    .reconcile(async ({ key, object: job }, context) => {
      // Many clusters have none. Where time is virtual it stands still meanwhile.
      plans ??= await context.clock.hold(import('./plan.ts'))
      const { isSettled, planJob } = plans
      const podsOfName = context.informer(podResource).byIndex(trackedIndexName, key)
      const claims = job === undefined ? noClaims : claimsOf(job, context)
      // Nobody counts pods of a Job that is gone: they need not wait for it.
      const isCounted = (pod: Pod) =>
        job !== undefined && (controllerOf(pod)?.uid === job.metadata.uid || claims.orphans.includes(pod))
      const left = podsOfName.filter((pod) => !isCounted(pod))
      const because = 'the Job that counts the pod is gone'
      await Promise.all(
        left.map((pod) => removeFinalizer(context.client, podResource, pod, trackingFinalizer, because)),
      )
      if (job === undefined) return undefined
      if (claims.orphans.length + claims.mismatched.length > 0) {
        const owner = await liveOwner(context, job)
        if (owner === undefined || !isAtWork(owner)) return undefined
        await performPlan(context, owner, { actions: podClaimActions(owner, claims, trackingFinalizer) })
        // What the Job has now is judged when the caches show it.
        return { requeueAfterMs: 0 }
      }
      const { namespace } = job.metadata
      const find = (name: string) => context.informer(jobs).get(keyText(namespace, name))
      const dependencies = judgeDependencies(job, find)
      const isNamespaceGoing = isGoing(context.informer(namespaces).get(namespace ?? ''))
      const pods = context.owned<Pod>(podResource)
      const plan = planJob({ job, pods, dependencies, isNamespaceGoing }, context.clock.now())
      await perform(context, job, plan)
      const result = { restMs: jobRestMs(pods.length), isSettled: isSettled(job, plan, pods) }
      return plan.requeueAfterMs === undefined ? result : { requeueAfterMs: plan.requeueAfterMs, ...result }
    })
}

const isGoing = (namespace: Namespace | undefined): boolean => namespace?.metadata.deletionTimestamp !== undefined

/** The Jobs of a namespace that is on its way out, by their keys. */
const jobsGoingWith = (namespace: Namespace, lookup: Lookup): readonly string[] =>
  isGoing(namespace) ? lookup.informer(jobs).list(namespace.metadata.name).map(keyOf) : []

const noClaims: PodClaims = { orphans: [], mismatched: [] }

/** The pods that a Job takes in, and those that it lets go. One that is over or that somebody else runs does neither. */
function claimsOf(job: Job, context: ReconcileContext<Job>): PodClaims {
  if (!isAtWork(job)) return noClaims
  const selector = selectorOfJob(job)
  const { namespace } = job.metadata
  return {
    orphans: selected(context.informer(podResource), adoptableIndexName, namespace, selector),
    mismatched: context.owned<Pod>(podResource).filter(({ metadata }) => !selector.matches(metadata.labels)),
  }
}

/**
 * Of updates of a pod that runs, or will, those that may change what is counted or done. Which node it is on tells only which of too many
 * pods go, and these go at once.
 */
export function changesJob(change: Change<Pod>): boolean {
  if (change.type !== 'update' || !isActive(change.old) || !isActive(change.object)) return true
  const of = (pod: Pod) => {
    const { labels, annotations, ownerReferences, finalizers } = pod.metadata
    const { phase, containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
    const restarts = [...containerStatuses, ...initContainerStatuses].map(({ restartCount }) => restartCount)
    return [labels, annotations, ownerReferences, finalizers, phase, isReady(pod), restarts]
  }
  return !deepEqual(of(change.old), of(change.object))
}

/** The Jobs that a pod concerns, by their keys: its own, unless that is over or gone and has counted the pod. */
function jobsOf(pod: Pod, lookup: Lookup): readonly string[] {
  if (isTracked(pod)) return [...byTracking(pod), ...wouldAdopt(pod, lookup)]
  const owner = controllerOf(pod, jobs)
  if (owner === undefined) return wouldAdopt(pod, lookup)
  const key = keyText(pod.metadata.namespace, owner.name)
  const job = lookup.informer(jobs).get(key)
  return job === undefined || job.metadata.uid !== owner.uid || isJobFinished(job) ? [] : [key]
}

/** The Jobs that would adopt a pod, by their keys. */
function wouldAdopt(pod: Pod, lookup: Lookup): readonly string[] {
  if (!isAdoptable(pod)) return []
  const { namespace, labels } = pod.metadata
  const candidates = selecting(lookup.informer(jobs), namespace, labels)
  return candidates.filter((job) => isAtWork(job) && selectorOfJob(job).matches(labels)).map(keyOf)
}

/** The Jobs that wait for one, by their keys. */
function dependents({ metadata: { namespace, name = '' } }: Job, lookup: Lookup): readonly string[] {
  const waiting = lookup.informer(jobs).byIndex(dependentsIndexName, keyText(namespace, name))
  return waiting.map(({ metadata }) => keyText(metadata.namespace, metadata.name ?? ''))
}

async function perform(context: ReconcileContext<Job>, job: Job, plan: JobPlan): Promise<void> {
  const { actions, requeueAfterMs } = plan
  // The deadline passes also where no pod can be made, because of a quota for one.
  const wait = requeueAfterMs === undefined ? {} : { requeueAfterMs }
  const failure = await failureOf(performPlan(context, job, { actions, ...wait }))
  const { status, releases } = failure === undefined ? plan : (plan.otherwise?.() ?? plan)
  if (status !== undefined) await performPlan(context, job, { actions: [], status })
  // What the status names as counted loses its finalizer, never the other way round, and also where no pod can be made: a namespace
  // that is going waits for its pods to go.
  await performPlan(context, job, { actions: releases })
  if (failure !== undefined && !isOnlyNamespaceGoing(failure.error)) throw failure.error
}
