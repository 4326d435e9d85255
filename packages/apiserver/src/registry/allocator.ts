import type { KubernetesObject } from '@coracle/api'
import type { JointWrite } from './object-writer.ts'

/** Gives objects of a kind what no two of them may have, such as addresses. Asked between preparing an object and checking it. */
export interface Allocator {
  /**
   * What `object` is to have, set aside until `release`. `old` is the object before an update. Throws an ApiError for what it
   * asks for and cannot have.
   */
  allocate(object: KubernetesObject, old: KubernetesObject | undefined): Allocation
  /** What is to be written together with the removal of an object, so that others may have what it had. */
  freed(object: KubernetesObject): readonly JointWrite[]
}

/** An object with what it was given. */
export interface Allocation {
  readonly object: KubernetesObject
  /** What is to be written together with it: the write fails where another server has given the same away. */
  readonly alongside: readonly JointWrite[]
  /** Called once when the write is done or given up: what was stored is known from the cache by then, all else is free again. */
  release(): void
}
