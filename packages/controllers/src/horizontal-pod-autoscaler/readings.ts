import type { Time } from '@coracle/environment'

/** A metric of one pod. Values are in thousandths, as everything that is computed with here. */
export interface PodMetric {
  readonly millis: number
  /** The end of the window in which it was measured. */
  readonly atMs: Time
  readonly windowMs: number
}

/** A metric of pods, by their names. */
export type PodReadings = ReadonlyMap<string, PodMetric>

/** What was read for one metric of an autoscaler. */
export type Reading =
  /** Of each pod that has it: Resource, ContainerResource and Pods. */
  | { readonly pods: PodReadings }
  /** Of something else: Object and External. */
  | { readonly millis: number }
  /** It could not be had, for this reason. */
  | { readonly error: string }
