import type { Component } from './cluster.ts'

/** Starts a part; resolves to what stops it. One that does not start has stopped what it had. */
export type StartComponent = () => Promise<StopComponent>
export type StopComponent = (options: { readonly containers: 'terminate' | 'keep' }) => void | Promise<void>

/** Lets time pass for as long as something takes, where the caller holds the clock. */
export type Drive = (work: Promise<void>) => Promise<void>

/** A part that can be stopped and started again. Calls are carried out one after the other. */
export class RestartableComponent implements Component {
  readonly #start: StartComponent
  readonly #drives: { readonly start: Drive; readonly stop: Drive }
  #stop: StopComponent | undefined
  #last: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(start: StartComponent, drives: { readonly start: Drive; readonly stop: Drive }) {
    this.#start = start
    this.#drives = drives
  }

  /** As `start`, where somebody else lets time pass. */
  startFirst(): Promise<void> {
    return this.#after(async () => {
      this.#stop = await this.#start()
    })
  }

  start(): Promise<void> {
    return this.#drives.start(
      this.#after(async () => {
        if (this.#isOver) throw new Error('the cluster is stopped')
        this.#stop ??= await this.#start()
      }),
    )
  }

  stop(): Promise<void> {
    return this.#drives.stop(this.#after(() => this.#end({ containers: 'keep' })))
  }

  /** Stops it for good, where somebody else lets time pass. */
  close(options: { readonly containers: 'terminate' | 'keep' }): Promise<void> {
    this.#isOver = true
    return this.#after(() => this.#end(options))
  }

  async #end(options: { readonly containers: 'terminate' | 'keep' }): Promise<void> {
    const stop = this.#stop
    this.#stop = undefined
    await stop?.(options)
  }

  #after(call: () => Promise<void>): Promise<void> {
    const done = this.#last.then(call)
    this.#last = done.catch(() => {})
    return done
  }
}
