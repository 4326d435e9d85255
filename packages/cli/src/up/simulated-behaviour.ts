import { asSpecified, endingTasks, type SimulatedBehaviour, withoutImages } from '@coracle/cluster/simulated'
import type { UpFlags } from './up-flags.ts'

/**
 * What simulated containers do beside what their environment says. Those that are there to end, and are not told how long to run, do so as their
 * command tells, or for `usualMs`: with Infinity they go on.
 */
export function simulatedBehaviour(
  { runTime, missingImages }: Pick<UpFlags, 'runTime' | 'missingImages'>,
  usualMs: number,
): SimulatedBehaviour | undefined {
  const forMs = runTime ?? usualMs
  const conduct =
    forMs === Infinity ? undefined : runTime === undefined ? asSpecified(endingTasks(forMs)) : endingTasks(forMs)
  return missingImages === undefined ? conduct : withoutImages(missingImages, conduct ?? usually)
}

const usually: SimulatedBehaviour = () => ({})
