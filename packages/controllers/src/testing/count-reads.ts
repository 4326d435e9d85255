import type { KubernetesObject } from '@coracle/api'
import type { Informer } from '@coracle/client'
import { vi } from 'vitest'

/** Objects handed out by lists and indexes of a cache: what a controller has to look at. */
export interface Reads {
  /** The objects handed out since the last call. */
  taken(): number
}

/** Counts what is read of these caches from now on, one by one reads excepted. */
export function countReads(...informers: readonly Informer<KubernetesObject>[]): Reads {
  let count = 0
  const counted = <A extends readonly unknown[]>(read: (...args: A) => readonly KubernetesObject[]) => {
    return (...args: A) => {
      const objects = read(...args)
      count += objects.length
      return objects
    }
  }
  for (const informer of informers) {
    const list = counted(informer.list.bind(informer))
    const byIndex = counted(informer.byIndex.bind(informer))
    vi.spyOn(informer, 'list').mockImplementation(list)
    vi.spyOn(informer, 'byIndex').mockImplementation(byIndex)
  }
  return {
    taken() {
      const taken = count
      count = 0
      return taken
    },
  }
}
