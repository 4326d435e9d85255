import { dependenciesOf, type Job, type JobStatus, jobLabels, jobs, type Pod, pods as podResource } from '@coracle/api'
import { type IndexFunction, keyText } from '@coracle/client'
import {
  type Controller,
  controller,
  controllerOf,
  type Lookup,
  performPlan,
  type ReconcileContext,
  removeFinalizer,
} from '@coracle/controller-runtime'
import { isOnlyNamespaceGoing } from '../namespace/perform-unless-going.ts'
import { judgeDependencies } from './dependencies.ts'
import { isTracked, trackingFinalizer } from './job-pods.ts'
import { type JobPlan, planJob } from './plan.ts'

/** The index of Jobs by those that they wait for. */
const dependentsIndexName = 'depends-on'
const byDependency: IndexFunction<Job> = (job) =>
  dependenciesOf(job).map((name) => keyText(job.metadata.namespace, name))

/** The index of pods that are to be counted, by the Job that made them, whether it is still there or has given them up, or not. */
const trackedIndexName = 'tracked-by-job'
const byTracking: IndexFunction<Pod> = (pod) => {
  if (!isTracked(pod)) return []
  const { namespace, labels } = pod.metadata
  const owner = controllerOf(pod)
  const name = owner === undefined ? labels?.[jobLabels.jobName] : owner.kind === 'Job' ? owner.name : undefined
  return name === undefined ? [] : [keyText(namespace, name)]
}

/** Runs the pods of Jobs, and counts each of them once. */
export function createJobController(): Controller {
  return controller('job-controller', { component: 'job-controller' })
    .for(jobs, { indexes: { [dependentsIndexName]: byDependency } })
    .watches(jobs, dependents)
    .owns(podResource, { indexes: { [trackedIndexName]: byTracking } })
    .watches(podResource, (pod) => byTracking(pod))
    .reconcile(async ({ key, object: job }, context) => {
      const podsOfName = context.informer(podResource).byIndex(trackedIndexName, key)
      // Nobody counts pods of a Job that is gone: they need not wait for it.
      const left = podsOfName.filter((pod) => controllerOf(pod)?.uid !== job?.metadata.uid)
      const because = 'the Job that counts the pod is gone'
      await Promise.all(
        left.map((pod) => removeFinalizer(context.client, podResource, pod, trackingFinalizer, because)),
      )
      if (job === undefined) return undefined
      const { namespace } = job.metadata
      const find = (name: string) => context.informer(jobs).get(keyText(namespace, name))
      const dependencies = judgeDependencies(job, find)
      const plan = planJob({ job, pods: context.owned<Pod>(podResource), dependencies }, context.clock.now())
      await perform(context, job, plan)
      return plan.requeueAfterMs === undefined ? undefined : { requeueAfterMs: plan.requeueAfterMs }
    })
}

/** The Jobs that wait for one, by their keys. */
function dependents({ metadata: { namespace, name = '' } }: Job, lookup: Lookup): readonly string[] {
  const waiting = lookup.informer(jobs).byIndex(dependentsIndexName, keyText(namespace, name))
  return waiting.map(({ metadata }) => keyText(metadata.namespace, metadata.name ?? ''))
}

async function perform(context: ReconcileContext<Job>, job: Job, plan: JobPlan): Promise<void> {
  const { actions, status, created, releases } = plan
  const failure = await failureOf(performPlan(context, job, { actions }))
  const shown: JobStatus | undefined =
    failure === undefined ? status : status && { ...status, active: (status.active ?? 0) - created }
  if (shown !== undefined) await performPlan(context, job, { actions: [], status: shown })
  // What the status names as counted loses its finalizer, never the other way round, and also where no pod can be made: a namespace
  // that is going waits for its pods to go.
  await performPlan(context, job, { actions: releases })
  if (failure !== undefined && !isOnlyNamespaceGoing(failure.error)) throw failure.error
}

/** What work failed with; undefined where it did not. */
async function failureOf(work: Promise<unknown>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return { error }
  }
}
