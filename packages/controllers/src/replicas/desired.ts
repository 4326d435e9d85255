import type { LabelSelectorMatcher, PodTemplateSpec } from '@coracle/api'
import type { Condition } from '@coracle/controller-runtime'

/** What an object that keeps a number of pods asks for, whatever its kind. */
export interface DesiredReplicas {
  readonly replicas: number
  readonly selector: LabelSelectorMatcher
  /** Absent: nothing can be made. */
  readonly template: PodTemplateSpec | undefined
  readonly minReadySeconds: number
}

/** The status of such an object. Counts that are zero are left out, but for `replicas`, as upstream does. */
export interface ReplicasStatus {
  readonly replicas: number
  readonly fullyLabeledReplicas?: number | undefined
  readonly readyReplicas?: number | undefined
  readonly availableReplicas?: number | undefined
  readonly observedGeneration?: number | undefined
  readonly conditions?: readonly Condition[] | undefined
}
