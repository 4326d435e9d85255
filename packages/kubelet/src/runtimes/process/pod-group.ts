import { readFileSync } from 'node:fs'
import { fnv1a } from '@coracle/environment'

/** The groups of pods are above those that a pod may name (int32, as the API checks), so that no pod can ask to be in another's. */
const groupMin = 2 ** 31
/** The highest of 32 bits stands for no group, and the one below it for nobody to some file systems. */
const groupMax = 2 ** 32 - 3

/**
 * The group that a pod has to itself: made of its uid, so that it is the same after a restart and nothing has to be kept of it. That two of a
 * thousand pods have the same one has a chance of 1 in 4,000; these could pass to each other's volumes. Undefined where there are no groups as
 * high, as in user namespaces with a part of them (`man 7 user_namespaces`).
 */
export function podGroup(podUid: string, map: () => string = groupMap): number | undefined {
  if (!isMapped(map())) return undefined
  return groupMin + (fnv1a(podUid) % (groupMax - groupMin + 1))
}

/** Whether all groups of pods are among those that this process's namespace has: lines of first, first outside, count. */
function isMapped(map: string): boolean {
  return map.split('\n').some((line) => {
    const [first = Number.NaN, , count = Number.NaN] = line.trim().split(/\s+/).map(Number)
    return first <= groupMin && first + count > groupMax
  })
}

function groupMap(): string {
  try {
    return readFileSync('/proc/self/gid_map', 'utf8')
  } catch {
    return ''
  }
}
