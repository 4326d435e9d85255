import type { KubernetesObject, Resource } from '@coracle/api'
import type { Client, EventRecorder, Informer } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { ActionRecord } from './plan.ts'

/** Which object to reconcile. It says nothing about what has happened to it: that would be out of date already. */
export interface Request<T extends KubernetesObject> {
  /** `namespace/name`, or `name` where the kind has no namespaces. */
  readonly key: string
  readonly namespace: string | undefined
  readonly name: string
  /** The object as the cache has it; undefined when it is gone. */
  readonly object: T | undefined
}

/** When to look again without being told; nothing means: when something changes. */
export interface Requeue {
  readonly requeueAfterMs?: number
  /**
   * How long the key rests now, whatever changes: what comes in that time is one reconcile at its end. For those that look at many
   * objects each time, so that a burst of changes costs no more than what it came to.
   */
  readonly restMs?: number
  /**
   * Whether what this reconcile has written needs no look of its own: called with that in its caches and all else as it was, it would
   * do nothing, and look again no earlier. Changes that are these very writes are then left out, as by the trackers of some of
   * upstream's controllers; any other change is followed as ever. Where a server may turn down or complete what was written, say so only
   * if that needs no answer.
   */
  readonly isSettled?: boolean
  /** Whether that look is housekeeping: it finds nothing to do unless something has stopped happening (`TimerOptions`). */
  readonly housekeeping?: boolean
  /** Whether it is a poll: it comes on time, and seldom finds anything to do (`TimerOptions`). */
  readonly poll?: boolean
}

export type Result = Requeue | undefined

/**
 * Brings the world closer to what an object asks for, and returns. The contract:
 *
 * - It is level-triggered. It is called for an object because something about it may have changed, any number of times,
 *   also when nothing has. It looks at what is, never at what happened, and does only what is missing.
 * - It is never run twice at once for one key. Different keys interleave at every `await`.
 * - What it reads from informers is at least as new as everything that earlier runs for this key have written.
 * - It has three outcomes: done; done and look again later (`requeueAfterMs`); or it throws, is logged, and runs again
 *   after a wait that doubles from 5 ms to 1,000 s. It needs no retry of its own.
 */
export type Reconcile<T extends KubernetesObject> = (
  request: Request<T>,
  context: ReconcileContext<T>,
) => Promise<Result>

/** Reads the caches a controller has declared. */
export interface Lookup {
  /** The informer of a resource; throws where the controller has not declared that it reads it. */
  informer<U extends KubernetesObject>(resource: Resource<U>): Informer<U>
}

/** What a reconcile may touch. */
export interface ReconcileContext<T extends KubernetesObject> extends Environment, Lookup {
  /** Name of the controller. */
  readonly controller: string
  /** The resource that is reconciled. */
  readonly resource: Resource<T>
  /** Writes through this client are waited for before the key is reconciled again. Others are not. */
  readonly client: Client
  readonly recorder: EventRecorder
  /** Aborted when the manager stops or loses leadership; pass it to whatever takes long. */
  readonly signal: AbortSignal
  /** The objects of a resource (declared with `owns`) that the reconciled object controls: of its namespace, where it is in one. */
  owned<U extends KubernetesObject>(resource: Resource<U>): readonly U[]
  /** The key is looked at again in this many milliseconds at the latest, also where the reconcile fails. */
  lookAgainAfter(delayMs: number): void
  /** Keeps why something was done. Called by `performPlan`. */
  recordAction(record: ActionRecord): void
}
