import type { Pod } from '@coracle/api'
import type { Cluster } from './cluster.ts'
import { type ClusterEvent, nodeOfEvent } from './cluster-event.ts'
import type { Framework } from './framework.ts'
import type { PluginRefusal } from './pod-class.ts'

/** Events that are weighed one by one; where more have come at once, resting pods are tried without asking. */
export const wakeUpEventsMax = 1024

/**
 * What has happened since pods that rest were last looked at, and which of them it helps. Events of a turn are weighed
 * together, however many they are, so that a node that loses many pods is looked at once.
 */
export class WakeUps {
  readonly #framework: Framework
  readonly #cluster: Cluster
  #events: ClusterEvent[] = []
  #areTooMany = false

  constructor(framework: Framework, cluster: Cluster) {
    this.#framework = framework
    this.#cluster = cluster
  }

  get isEmpty(): boolean {
    return this.#events.length === 0 && !this.#areTooMany
  }

  add(event: ClusterEvent): void {
    if (this.#events.length >= wakeUpEventsMax) this.#areTooMany = true
    if (!this.#areTooMany) this.#events.push(event)
  }

  /** Ends the batch: tells which pods its events help. `refusedBy` are the plugins that kept the pod from nodes. */
  take(): (pod: Pod, refusedBy: ReadonlySet<string>) => boolean {
    const events = this.#events
    const areTooMany = this.#areTooMany
    this.#events = []
    this.#areTooMany = false
    const names = new Set(events.flatMap((event) => nodeOfEvent(event) ?? []))
    const nodes = [...names].flatMap((name) => this.#cluster.node(name) ?? [])
    const helps = (pod: Pod, refusedBy: ReadonlySet<string>): boolean => {
      if (nodes.length > 0) {
        const prepared = this.#framework.prepare(pod, this.#cluster)
        // Where another plugin refuses now, the pod is tried, so that what helps against that one wakes it.
        const isOutOfDate = (refusal: PluginRefusal | undefined) =>
          refusal === undefined || !refusedBy.has(refusal.plugin)
        if (nodes.some((node) => isOutOfDate(prepared.refuse(node)))) return true
      }
      return events.some((event) => this.#framework.isHelpedBy(pod, event, this.#cluster, refusedBy))
    }
    return (pod, refusedBy) => {
      if (areTooMany) return true
      try {
        return helps(pod, refusedBy)
      } catch {
        // One that cannot be judged is tried: what is the matter is told then, and the others are asked about.
        return true
      }
    }
  }
}
