import { wallTimeMs } from './wall-time.ts'

/** A point in time: milliseconds since the Unix epoch. */
export type Time = number

/** A pending callback. Cancelling one that has already run does nothing. */
export interface Timer {
  cancel(): void
}

export interface TimerOptions {
  /**
   * Upkeep that goes round for as long as the program runs, such as a heartbeat: as long as nothing else happens, a missed
   * round makes no difference to anybody, provided that the next one makes up for it. A virtual clock leaves rounds out
   * while nothing else is due. What must happen at its time, such as a deadline, is not housekeeping.
   */
  readonly housekeeping?: boolean
  /**
   * A look at something from time to time that seldom finds anything to do. It comes when it is due; only what it finds to do ends
   * the quiet in which a virtual clock leaves out housekeeping: see `Clock.catchUp`.
   */
  readonly poll?: boolean
  /**
   * Something that happens by itself, such as the end of a process, and that others watch. Of what is due at one moment a virtual clock
   * lets all of this come first, so that it does not matter in which order the timers were set.
   */
  readonly external?: boolean
  /** Whether the process must not end before it fires. */
  readonly keepsProcess?: boolean
}

/**
 * Time as a component sees it. Everything that waits, waits on one of these, so that a test can hold
 * the clock in its hand. Nothing outside this package touches `Date`, `setTimeout` and their kin.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. May jump when the host's clock is set. */
  now(): Time
  /** Milliseconds since an arbitrary start; never goes backwards. For measuring how long something took. */
  monotonicMs(): number
  /** Calls `callback` once, `delayMs` from now. A delay below zero counts as zero. Keeps a process alive only if told to. */
  setTimer(delayMs: number, callback: () => void, options?: TimerOptions): Timer
  /** Calls `callback` after the current turn of the event loop: what `setImmediate` is to real time. */
  defer(callback: () => void): void
  /**
   * Tells the clock of work that is under way outside it, such as a call over a real network, and returns it. A virtual clock
   * stands still until it is done. The work may defer, and must not wait for a timer of this clock.
   */
  hold<T>(work: Promise<T>): Promise<T>
  /**
   * To be awaited before a change is made: a poll may have led to it, in a quiet in which housekeeping was left out. Resolves when
   * that is made up for; undefined where there is nothing to wait for, as always in real time.
   */
  catchUp(): Promise<void> | undefined
}

/** Resolves `delayMs` from now, or rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    const onAbort = () => {
      timer.cancel()
      reject(signal?.reason)
    }
    const wake = () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }
    const timer = clock.setTimer(delayMs, wake, options)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/**
 * Keeps the process alive until the returned function is called: for what works in the background and may for a while have
 * nothing but timers to wait for, as when a server does not answer.
 */
export function keepProcess(clock: Clock): () => void {
  const forever = 2 ** 31 - 1
  const arm = (): Timer => clock.setTimer(forever, rearm, { keepsProcess: true, housekeeping: true })
  const rearm = (): void => {
    timer = arm()
  }
  let timer = arm()
  return () => timer.cancel()
}

/** The host's clock. */
export const realClock: Clock = {
  now: wallTimeMs,
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback, { keepsProcess = false } = {}) {
    // Node fires a timer beyond 2^31-1 ms at once; such a wait is taken in steps instead.
    const stepMaxMs = 2 ** 31 - 1
    let remainingMs = Math.max(0, delayMs)
    let handle: NodeJS.Timeout
    const arm = () => {
      const stepMs = Math.min(remainingMs, stepMaxMs)
      remainingMs -= stepMs
      handle = setTimeout(() => (remainingMs > 0 ? arm() : callback()), stepMs)
      if (!keepsProcess) handle.unref()
    }
    arm()
    return { cancel: () => clearTimeout(handle) }
  },
  defer(callback) {
    setImmediate(callback)
  },
  hold: (work) => work,
  catchUp: () => undefined,
}

/** The same clock, but for its wall-clock time, which is ahead by so many milliseconds: those of two hosts never agree. */
export function skewedClock(clock: Clock, skewMs: number): Clock {
  return {
    now: () => clock.now() + skewMs,
    monotonicMs: () => clock.monotonicMs(),
    setTimer: (delayMs, callback, options) => clock.setTimer(delayMs, callback, options),
    defer: (callback) => clock.defer(callback),
    hold: (work) => clock.hold(work),
    catchUp: () => clock.catchUp(),
  }
}
