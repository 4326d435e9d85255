import type { Pod, StatefulSet } from '@coracle/api'
import { desiredOf, firstOrdinal, isWanted, ordinalOf } from './identity.ts'

/** A place that a stateful set wants a pod in. */
export interface Place {
  readonly ordinal: number
  readonly pod: Pod | undefined
}

/** A pod of a stateful set in its place. */
export interface Member {
  readonly ordinal: number
  readonly pod: Pod
}

export interface Members {
  /** By number, with the places that are empty. There may be billions of these: each is made when it is asked for. */
  readonly places: Iterable<Place>
  /** Pods beyond what is wanted, the greatest number first. */
  readonly condemned: readonly Member[]
  /** The pod with this number. */
  podAt(ordinal: number): Pod | undefined
}

/** Sorts the pods of a stateful set by their numbers. Pods that are named otherwise are not among them. */
export function membersOf(set: StatefulSet, pods: readonly Pod[]): Members {
  const members = pods.flatMap((pod): readonly Member[] => {
    const ordinal = ordinalOf(set, pod)
    return ordinal === undefined ? [] : [{ ordinal, pod }]
  })
  const byOrdinal = new Map(members.map(({ ordinal, pod }) => [ordinal, pod]))
  const condemned = members.filter(({ ordinal }) => !isWanted(set, ordinal)).sort((a, b) => b.ordinal - a.ordinal)
  return { places: placesOf(set, byOrdinal), condemned, podAt: (ordinal) => byOrdinal.get(ordinal) }
}

function* placesOf(set: StatefulSet, byOrdinal: ReadonlyMap<number, Pod>): Generator<Place> {
  const first = firstOrdinal(set)
  const end = first + desiredOf(set)
  for (let ordinal = first; ordinal < end; ordinal += 1) yield { ordinal, pod: byOrdinal.get(ordinal) }
}
