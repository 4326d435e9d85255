import { hasReason, type Job, jobs } from '@coracle/api'
import type { Client } from '@coracle/client'
import { type Controller, controller, type Predicate, performPlan } from '@coracle/controller-runtime'
import { planFinishedJob } from './plan.ts'

/** Deletes Jobs that are over and say for how long they are to be kept: https://kep.k8s.io/592. */
export function createTtlAfterFinishedController(): Controller {
  return controller('ttl-after-finished-controller', { component: 'ttl-after-finished-controller' })
    .for(jobs, { predicates: [mayExpire] })
    .reconcile(async ({ object: job }, context) => {
      if (job === undefined) return undefined
      const plan = planFinishedJob(job, context.clock.now())
      if (plan.actions.length === 0) return performPlan(context, job, plan)
      // The cache may not know yet that it is to stay longer; what is irreversible is done on the server's word.
      const fresh = await served(job, context.client)
      return fresh && performPlan(context, fresh, planFinishedJob(fresh, context.clock.now()))
    })
}

async function served({ metadata }: Job, client: Client): Promise<Job | undefined> {
  const { namespace = '', name = '' } = metadata
  try {
    return await client.get(jobs, { namespace, name })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

const mayExpire: Predicate<Job> = ({ object }) => object.spec.ttlSecondsAfterFinished !== undefined
