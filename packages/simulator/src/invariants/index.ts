import type { Invariant } from '../view.ts'
import { autoscalingInvariants } from './autoscaling.ts'
import { convergenceInvariants } from './convergence.ts'
import { cronJobInvariants } from './cron-jobs.ts'
import { deletionInvariants } from './deletion.ts'
import { deviceInvariants } from './devices.ts'
import { jobEndingInvariants } from './job-endings.ts'
import { jobInvariants } from './jobs.ts'
import { limitInvariants } from './limits.ts'
import { objectInvariants } from './objects.ts'
import { podInvariants } from './pods.ts'
import { schedulingInvariants } from './scheduling.ts'
import { updateInvariants } from './updates.ts'
import { volumeInvariants } from './volumes.ts'
import { workloadInvariants } from './workloads.ts'

/** All rules, for one run: some remember what they have seen. */
export function invariantsOfRun(): readonly Invariant[] {
  return [
    ...objectInvariants,
    ...podInvariants,
    ...schedulingInvariants,
    ...workloadInvariants,
    ...updateInvariants,
    ...jobInvariants(),
    ...jobEndingInvariants,
    ...cronJobInvariants(),
    ...limitInvariants,
    ...autoscalingInvariants,
    ...volumeInvariants,
    ...deviceInvariants,
    ...deletionInvariants(),
    ...convergenceInvariants,
  ]
}
