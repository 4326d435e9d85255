import type { Cause, Event, KubernetesObject, Resource } from '@coracle/api'
import type { Diagnosis } from './finding.ts'

/** Objects that have to be known to explain another. A kind reads each resource once. */
export interface Read {
  readonly resource: Resource
  /** Absent: all namespaces, or a kind that has none. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** An object, and what is known of its surroundings as far as the reader may see them. */
export interface Facts<T extends KubernetesObject = KubernetesObject> {
  readonly object: T
  /** Events about it, the latest last. */
  readonly events: readonly Event[]
  /** The latest causes of its changes, newest first; none where they were not read. */
  readonly causes: readonly Cause[]
  readonly nowMs: number
  /**
   * All objects of a resource that were to be read. Undefined where some may be missing: the reader may not see them, they are too
   * many, or the server does not have the resource. What is not in an incomplete list may be there: nothing is concluded from it.
   */
  all<R extends KubernetesObject>(resource: Resource<R>): readonly R[] | undefined
  /** Those that were read, be they all or not. */
  some<R extends KubernetesObject>(resource: Resource<R>): readonly R[]
}

/** Finds one way of being held up. Pure; undefined where the object is not held up that way. */
export type Rule<T extends KubernetesObject = KubernetesObject> = (
  facts: Facts<T>,
) => Diagnosis | readonly Diagnosis[] | undefined

/** How objects of a kind are explained. */
export interface KindRules<T extends KubernetesObject = KubernetesObject> {
  /** What is read for an object. */
  reads?(object: T): readonly Read[]
  /** In the order in which things have to come about. */
  readonly rules: readonly Rule<T>[]
  /** Objects among those read that it may wait for: they are explained next, those that matter most first. */
  leads?(facts: Facts<T>): readonly KubernetesObject[]
  /** What it still lacks to be as it is asked to be, where no rule says why. */
  readonly behind?: Rule<T>
}
