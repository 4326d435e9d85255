import type { ContainerRuntimeStatus } from '../runtimes/runtime.ts'
import { runsOf } from '../status/container-statuses.ts'

/**
 * Which containers that have ended are kept, for their logs. The last run of each container is kept as long as its pod, whatever the limits:
 * it says how often the container was started, and how it ended.
 */
export interface DeadContainerLimits {
  /** One stays for at least so long after it was made (`--minimum-container-ttl-duration`). */
  readonly ttlMinMs: number
  /** How many of each container, beside its last run (`--maximum-dead-containers-per-container`); below 0: all. */
  readonly perContainerMax: number
  /** How many on the node in all, beside the last runs (`--maximum-dead-containers`); below 0: any number. */
  readonly max: number
}

/** Upstream's. */
export const deadContainerLimits: DeadContainerLimits = { ttlMinMs: 0, perContainerMax: 1, max: -1 }

/**
 * Which runs are to be removed, as upstream's container_gc.go chooses: what is beyond the limit of its container, then of those that
 * are still too many what is beyond an equal share of the limit for each container, though one is left, and then the oldest. Pure.
 */
export function surplusRuns(
  runs: readonly ContainerRuntimeStatus[],
  { ttlMinMs, perContainerMax, max }: DeadContainerLimits,
  nowMs: number,
): readonly ContainerRuntimeStatus[] {
  const mayGo = ({ state, createdAtMs }: ContainerRuntimeStatus): boolean =>
    state === 'exited' && nowMs - createdAtMs >= ttlMinMs
  const groups = [...byContainer(runs)].map((group) => group.filter(mayGo)).filter(({ length }) => length > 0)
  const surplus: ContainerRuntimeStatus[] = []
  const leave = (count: number): void => {
    for (const group of groups) surplus.push(...group.splice(count))
  }
  const left = (): number => groups.reduce((sum, { length }) => sum + length, 0)
  if (perContainerMax >= 0) leave(perContainerMax)
  if (max < 0 || left() <= max) return surplus
  leave(Math.max(1, Math.floor(max / groups.length)))
  const byAge = groups.flat().toSorted((a, b) => a.createdAtMs - b.createdAtMs)
  return [...surplus, ...byAge.slice(0, Math.max(0, byAge.length - max))]
}

/** The runs of each container but its last, latest first. */
function* byContainer(runs: readonly ContainerRuntimeStatus[]): Generator<ContainerRuntimeStatus[]> {
  const pods = Map.groupBy(
    runs.filter(({ state }) => state !== 'created'),
    ({ podUid }) => podUid,
  )
  for (const ofPod of pods.values()) {
    for (const name of new Set(ofPod.map((run) => run.name))) yield runsOf(name, ofPod).slice(1)
  }
}
