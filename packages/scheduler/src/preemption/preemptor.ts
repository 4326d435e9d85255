import { formatTime, hasReason, type Pod, type PodCondition, pods as podResource } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { Cluster } from '../cluster.ts'
import type { PodReporter } from '../pod-reporter.ts'
import { preemptionReason } from './preempt.ts'
import type { Victims } from './victims.ts'

/** Has less important pods leave for others. */
export class Preemptor {
  readonly #client: Client
  readonly #environment: Environment
  readonly #reporter: PodReporter
  readonly #cluster: Cluster
  /** What was decided, by uid of the pod that needs room. */
  readonly #underWay = new Map<string, Victims>()

  constructor(client: Client, environment: Environment, reporter: PodReporter, cluster: Cluster) {
    this.#client = client
    this.#environment = environment
    this.#reporter = reporter
    this.#cluster = cluster
  }

  /** Whether pods that have to leave for this one are not seen leaving yet: until then nothing more may be decided for it. */
  isUnderWay(uid: string): boolean {
    const victims = this.#underWay.get(uid)
    if (victims === undefined) return false
    const pods = this.#cluster.node(victims.node.name)?.pods
    const isPending = victims.pods.some(({ metadata }) => {
      const seen = pods?.get(metadata.uid ?? '')
      return seen !== undefined && seen.metadata.deletionTimestamp === undefined
    })
    if (!isPending) this.#underWay.delete(uid)
    return isPending
  }

  /** The pod waits no longer. */
  forget(uid: string): void {
    this.#underWay.delete(uid)
  }

  /** Deletes the victims, within their own grace periods. What fails is logged, and decided anew when the pod is tried again. */
  async preempt(pod: Pod, victims: Victims): Promise<void> {
    const { uid = '' } = pod.metadata
    this.#underWay.set(uid, victims)
    const results = await Promise.allSettled(victims.pods.map((victim) => this.#evict(victim, pod, victims.node.name)))
    for (const result of results) {
      if (result.status === 'fulfilled') continue
      this.#environment.logger.warn('preempting a pod failed', { for: pod.metadata.name, error: result.reason })
      this.#underWay.delete(uid)
    }
  }

  async #evict(victim: Pod, pod: Pod, node: string): Promise<void> {
    const { name = '', namespace = '', uid, generation } = victim.metadata
    const condition: PodCondition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: preemptionReason,
      message: `${pod.spec.schedulerName}: preempting to accommodate a higher priority pod`,
      observedGeneration: generation,
      lastTransitionTime: formatTime(this.#environment.clock.now()),
    }
    const body = { metadata: { uid }, status: { conditions: [condition] } }
    const key = { namespace, name }
    try {
      await this.#client.patch(podResource, key, { type: 'strategic', body }, { subresource: 'status' })
      await this.#client.delete(podResource, key, uid === undefined ? {} : { preconditions: { uid } })
    } catch (error) {
      // Gone already, or another pod by that name: there is room.
      if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return
      throw error
    }
    this.#reporter.preempted(victim, pod, node)
  }
}
