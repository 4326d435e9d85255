/** A controller in the middle of a rolling update. */
export interface ControllerState {
  /** How many pods it is asked to have. */
  readonly replicas: number
  /** How many it has, in whatever state. */
  readonly current: number
  /** How many of them are ready. */
  readonly ready: number
}

/** A rolling update as far as it is. */
export interface UpdateState {
  readonly old: ControllerState
  readonly next: ControllerState
  /** How many pods the old controller had when the update began. */
  readonly original: number
  /** How many the new one is to have in the end. */
  readonly desired: number
}

/** What to do next. `wait`: nothing, until the controllers are as they are asked to be. */
export type Step =
  | { readonly type: 'wait' }
  | { readonly type: 'scale'; readonly controller: 'old' | 'next'; readonly replicas: number }
  | { readonly type: 'finish' }

/**
 * The next step, from nothing but what is: so an update that was broken off anywhere goes on where it was. One more of
 * the new, and only when all of the new are ready one less of the old; what the old one had more goes at the end. There
 * are never fewer ready pods than the smaller of the two counts, less those that fail by themselves.
 */
export function nextStep({ old, next, original, desired }: UpdateState): Step {
  if (next.ready < next.replicas || old.current > old.replicas) return { type: 'wait' }
  const oldWanted = Math.max(0, original - next.replicas)
  if (next.replicas < desired) {
    return old.replicas > oldWanted
      ? { type: 'scale', controller: 'old', replicas: oldWanted }
      : { type: 'scale', controller: 'next', replicas: next.replicas + 1 }
  }
  return old.replicas > 0 ? { type: 'scale', controller: 'old', replicas: 0 } : { type: 'finish' }
}
