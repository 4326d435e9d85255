import type { KubernetesObject } from '@coracle/api'

/** Gives objects of a kind what no two of them may have, such as addresses. Asked between preparing an object and checking it. */
export interface Allocator {
  /**
   * What `object` is to have, set aside until `release`. `old` is the object before an update. Throws an ApiError for what it
   * asks for and cannot have.
   */
  allocate(object: KubernetesObject, old: KubernetesObject | undefined): Allocation
}

/** An object with what it was given. */
export interface Allocation {
  readonly object: KubernetesObject
  /** Called once when the write is done or given up: what was stored is known from the cache by then, all else is free again. */
  release(): void
}
