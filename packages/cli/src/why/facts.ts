import type { Event, KubernetesObject, PersistentVolumeClaim, Pod } from '@coracle/api'

/** What is known of an object and of what is around it, as far as its reader may see it. */
export interface Facts {
  readonly object: KubernetesObject
  /** Pods that it owns, through others too, or that its selector finds; none where it has nothing to do with pods. */
  readonly pods: readonly Pod[]
  /** The claims a pod mounts. */
  readonly claims: readonly PersistentVolumeClaim[]
  /** Events about it, the latest last. */
  readonly events: readonly Event[]
  readonly nowMs: number
}

/** Why something is not as it should be, and what would change that. */
export interface Stuck {
  readonly what: string
  readonly because: string
  readonly remedy: string
}

/** Explains one way of being stuck; undefined where an object is not stuck that way. */
export type Explainer = (facts: Facts) => Stuck | undefined
