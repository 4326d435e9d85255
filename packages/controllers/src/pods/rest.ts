/** Owners and services of fewer pods do not rest: their bursts are short. */
export const restlessPodsMax = 64

const ownerRest = { perPodMs: 0.02, maxMs: 20 }
const endpointsRest = { perPodMs: 0.1, maxMs: 1000 }
const jobRest = { perPodMs: 0.05, maxMs: 1000 }

/**
 * How long a controller of so many pods rests after it has looked at their number. When they all get ready at once, that is else a
 * status for each of them, and a step of the rollout. The first change after a quiet time is followed at once.
 */
export const ownerRestMs = (pods: number): number => restOf(pods, ownerRest)

/**
 * How long the endpoints of a service with so many pods rest after all of them have been looked at. That takes about a hundredth of a
 * millisecond for each pod, and as much again to write and to tell everybody: no more than a fifth of a core goes into one
 * service, however many of its pods come and go.
 */
export const endpointsRestMs = (pods: number): number => restOf(pods, endpointsRest)

/**
 * How long a Job rests after all its pods have been looked at, those that are over among them. That takes some microseconds for each;
 * what ends meanwhile is named in one status and counted by the next. Upstream's waits a second for each change of a pod.
 */
export const jobRestMs = (pods: number): number => restOf(pods, jobRest)

function restOf(pods: number, { perPodMs, maxMs }: { readonly perPodMs: number; readonly maxMs: number }): number {
  return pods < restlessPodsMax ? 0 : Math.min(maxMs, pods * perPodMs)
}
