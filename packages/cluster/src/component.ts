import type { ConnectionLink } from '@coracle/client'
import type { Component } from './cluster.ts'

export interface StopOptions {
  readonly containers: 'terminate' | 'keep'
}

/** Stops what was started. */
export type Stop = (options: StopOptions) => void | Promise<void>

/** A part that has been started. */
export interface Started {
  /** Resolves when it is at work. May never settle where the API server does not answer. */
  readonly atWork: Promise<void>
  /** Stops it, also before it is at work. */
  readonly stop: Stop
}

/** Starts a part, whose clients reach the API server through `link`. */
export type StartComponent = (link: ConnectionLink) => Started

/** Lets time pass for something, where the caller holds the clock. */
export interface Drives {
  /** Until it is done, or would have to wait for the clock. */
  start(work: Promise<void>): Promise<void>
  /** Until it is done. */
  stop(work: Promise<void>): Promise<void>
}

/** A part that can be stopped and started again. Calls are carried out one after the other. */
export class RestartableComponent implements Component {
  readonly #start: StartComponent
  readonly #trunk: () => ConnectionLink
  readonly #drives: Drives
  #running: (Started & { readonly link: ConnectionLink }) | undefined
  #last: Promise<void> = Promise.resolve()
  #isOver = false

  /** `trunk`: the way to the server that its own branches from. */
  constructor(start: StartComponent, trunk: () => ConnectionLink, drives: Drives) {
    this.#start = start
    this.#trunk = trunk
    this.#drives = drives
  }

  /** Whether it has been started, and not stopped since. */
  get isStarted(): boolean {
    return this.#running !== undefined
  }

  /** Starts what does not run, at once, where somebody else lets time pass. Resolves when it is at work. */
  startNow(): Promise<void> {
    if (this.#running === undefined) {
      const link = this.#trunk().branch()
      this.#running = { ...this.#start(link), link }
      this.#running.atWork.catch(() => {})
    }
    return this.#running.atWork
  }

  start(): Promise<void> {
    const begun = this.#after(async () => {
      if (this.#isOver) throw new Error('the cluster is stopped')
      void this.startNow()
    })
    return this.#drives.start(begun.then(() => this.#running?.atWork))
  }

  stop(): Promise<void> {
    return this.#drives.stop(this.end({ containers: 'keep' }))
  }

  crash(): Promise<void> {
    this.#running?.link.cut('the component has crashed')
    return this.stop()
  }

  /** As `stop`, where somebody else lets time pass. */
  end(options: StopOptions): Promise<void> {
    return this.#after(async () => {
      const running = this.#running
      this.#running = undefined
      try {
        await running?.stop(options)
      } finally {
        running?.link.end()
      }
    })
  }

  /** Stops it for good, where somebody else lets time pass. */
  close(options: StopOptions): Promise<void> {
    this.#isOver = true
    return this.end(options)
  }

  #after(call: () => Promise<void>): Promise<void> {
    const done = this.#last.then(call)
    this.#last = done.catch(() => {})
    return done
  }
}
