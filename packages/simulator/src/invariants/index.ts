import type { Invariant } from '../view.ts'
import { autoscalingInvariants } from './autoscaling.ts'
import { convergenceInvariants } from './convergence.ts'
import { deletionInvariants } from './deletion.ts'
import { deviceInvariants } from './devices.ts'
import { jobInvariants } from './jobs.ts'
import { limitInvariants } from './limits.ts'
import { objectInvariants } from './objects.ts'
import { podInvariants } from './pods.ts'
import { volumeInvariants } from './volumes.ts'
import { workloadInvariants } from './workloads.ts'

/** All rules, for one run: some remember what they have seen. */
export function invariantsOfRun(): readonly Invariant[] {
  return [
    ...objectInvariants,
    ...podInvariants,
    ...workloadInvariants,
    ...jobInvariants(),
    ...limitInvariants,
    ...autoscalingInvariants,
    ...volumeInvariants,
    ...deviceInvariants,
    ...deletionInvariants(),
    ...convergenceInvariants,
  ]
}
