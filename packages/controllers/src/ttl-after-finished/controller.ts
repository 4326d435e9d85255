import { type Job, jobs } from '@coracle/api'
import { type Controller, controller, type Predicate, performPlan } from '@coracle/controller-runtime'
import { planFinishedJob } from './plan.ts'

/** Deletes Jobs that are over and say for how long they are to be kept: https://kep.k8s.io/592. */
export function createTtlAfterFinishedController(): Controller {
  return controller('ttl-after-finished-controller', { component: 'ttl-after-finished-controller' })
    .for(jobs, { predicates: [mayExpire] })
    .reconcile(async ({ object: job }, context) => {
      if (job === undefined) return undefined
      return performPlan(context, job, planFinishedJob(job, context.clock.now()))
    })
}

const mayExpire: Predicate<Job> = ({ object }) => object.spec.ttlSecondsAfterFinished !== undefined
