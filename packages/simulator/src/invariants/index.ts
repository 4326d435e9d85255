import type { GivenPods } from '../manifests.ts'
import type { Invariant } from '../view.ts'
import { autoscalingInvariants } from './autoscaling.ts'
import { balancerInvariants } from './balancers.ts'
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
import { staticPodInvariants } from './static-pods.ts'
import { updateInvariants } from './updates.ts'
import { volumeInvariants } from './volumes.ts'
import { workloadInvariants } from './workloads.ts'

/** All rules, for one run: some remember what they have seen. `givenPods` tells which pods nodes are given in files. */
export function invariantsOfRun(givenPods: () => GivenPods = () => new Map()): readonly Invariant[] {
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
    ...balancerInvariants,
    ...staticPodInvariants(givenPods),
    ...deletionInvariants(),
    ...convergenceInvariants,
  ]
}
