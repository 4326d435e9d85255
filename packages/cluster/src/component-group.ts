import type { ConnectionLink } from '@coracle/client'
import type { Component } from './cluster.ts'
import { type Drives, RestartableComponent, type Started, type StopOptions } from './component.ts'

/** Starts a member with what its group runs on; its clients reach the API server through `link`. */
export type StartMember<C> = (context: C, link: ConnectionLink) => Started

interface Member {
  readonly component: RestartableComponent
  isStoppedAlone: boolean
}

interface Whole<C> {
  readonly context: C
  readonly link: ConnectionLink
}

/**
 * Parts that start and stop with the whole they belong to, and alone: one that was stopped alone stays so until it is started
 * alone, however often the whole starts.
 */
export class ComponentGroup<C> {
  readonly #members: ReadonlyMap<string, Member>
  /** What members run on, while the whole runs. */
  #whole: Whole<C> | undefined

  /** `startsWithWhole` says which members start with the whole; the others count as stopped alone. */
  constructor(
    members: ReadonlyMap<string, StartMember<C>>,
    drives: Drives,
    startsWithWhole: (name: string) => boolean = () => true,
  ) {
    const memberOf = (name: string, start: StartMember<C>): Member => ({
      component: new RestartableComponent(
        (link) => start(this.#running.context, link),
        () => this.#running.link,
        drives,
      ),
      isStoppedAlone: !startsWithWhole(name),
    })
    this.#members = new Map([...members].map(([name, start]) => [name, memberOf(name, start)]))
  }

  /** Starts the whole, without those that were stopped alone. */
  start(context: C, link: ConnectionLink): Started {
    this.#whole = { context, link }
    const members = [...this.#members.values()]
    const started = members.map((member) => (member.isStoppedAlone ? undefined : member.component.startNow()))
    return {
      atWork: Promise.all(started).then(() => {}),
      stop: (options: StopOptions) => {
        this.#whole = undefined
        return Promise.all(members.map(({ component }) => component.end(options))).then(() => {})
      },
    }
  }

  /** The member of this name, to be started and stopped alone. Throws where there is none. */
  component(name: string): Component {
    const member = this.#members.get(name)
    if (member === undefined) throw new Error(`there is no "${name}", only: ${[...this.#members.keys()].join(', ')}`)
    const { component } = member
    return {
      start: async () => {
        member.isStoppedAlone = false
        if (this.#whole !== undefined) await component.start()
      },
      stop: () => {
        member.isStoppedAlone = true
        return component.stop()
      },
      crash: () => {
        member.isStoppedAlone = true
        return component.crash()
      },
    }
  }

  get #running(): Whole<C> {
    if (this.#whole === undefined) throw new Error('the whole that this belongs to is stopped')
    return this.#whole
  }
}
