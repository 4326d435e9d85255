import type { Pod } from '@coracle/api'
import type { PodContext } from './pod-context.ts'
import type { PodEnding } from './pod-ending.ts'

/** The worker of a pod, as those see it who do a part of its work. */
export interface PodHost {
  readonly context: PodContext
  /** The pod as it is known now. */
  readonly pod: Pod
  /** It is no longer in the API. */
  readonly isGone: boolean
  readonly ending: PodEnding
  /** Something may have changed. */
  wake(): void
}
