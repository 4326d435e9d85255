import {
  formatTime,
  hasReason,
  type Pod,
  type PodCondition,
  type PodDisruptionBudget,
  pods as podResource,
} from '@coracle/api'
import type { Client, Informer } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { type Diagnosis, isSettledEarly } from '../fit-error.ts'
import type { PodReporter } from '../pod-reporter.ts'
import type { PreparedPod } from '../prepared-pod.ts'
import { priorityOf } from '../priority.ts'
import type { SchedulerCache } from '../scheduler-cache.ts'
import { type Preemption, planPreemption, preemptionReason } from './preempt.ts'
import type { Victims } from './victims.ts'

/** Has less important pods leave for others. */
export class Preemptor {
  readonly #client: Client
  readonly #environment: Environment
  readonly #budgets: Informer<PodDisruptionBudget>
  readonly #cache: SchedulerCache
  readonly #reporter: PodReporter
  /** What was decided, by uid of the pod that needs room. */
  readonly #underWay = new Map<string, Victims>()

  constructor(
    client: Client,
    environment: Environment,
    budgets: Informer<PodDisruptionBudget>,
    cache: SchedulerCache,
    reporter: PodReporter,
  ) {
    this.#client = client
    this.#environment = environment
    this.#budgets = budgets
    this.#cache = cache
    this.#reporter = reporter
  }

  /** Decides who leaves for a pod that found no node; undefined where no node was looked at. */
  plan(prepared: PreparedPod, diagnosis: Diagnosis): Preemption | undefined {
    if (diagnosis.nodeCount === 0 || isSettledEarly(diagnosis)) return undefined
    if (this.#isUnderWay(prepared.pod.metadata.uid ?? '')) {
      return { type: 'not-eligible', message: 'waiting for the preemption for this pod to be finished.' }
    }
    return planPreemption({
      prepared,
      diagnosis,
      cluster: this.#cache,
      budgets: this.#budgets.list(),
      random: this.#environment.random,
    })
  }

  /** The pod waits no longer. */
  forget(uid: string): void {
    this.#underWay.delete(uid)
  }

  /**
   * Deletes the victims, within their own grace periods, and has less important pods look for another node that were to come to this
   * one. What fails is logged, and decided anew when the pod is tried again. Resolves to whether all are told to leave.
   */
  async preempt(pod: Pod, victims: Victims): Promise<boolean> {
    const { uid = '' } = pod.metadata
    this.#underWay.set(uid, victims)
    const node = victims.node.name
    const evictions = Promise.allSettled(victims.pods.map((victim) => this.#evict(victim, pod, node)))
    await Promise.all(this.#displaceNominated(pod, node))
    let areTold = true
    for (const result of await evictions) {
      if (result.status === 'fulfilled') continue
      areTold = false
      this.#environment.logger.warn('preempting a pod failed', { for: pod.metadata.name, error: result.reason })
      this.#underWay.delete(uid)
    }
    return areTold
  }

  /** Whether pods that have to leave for this one are not seen leaving yet: until then nothing more may be decided for it. */
  #isUnderWay(uid: string): boolean {
    const victims = this.#underWay.get(uid)
    if (victims === undefined) return false
    const pods = this.#cache.node(victims.node.name)?.pods
    const isPending = victims.pods.some(({ metadata }) => {
      const seen = pods?.get(metadata.uid ?? '')
      return seen !== undefined && seen.metadata.deletionTimestamp === undefined
    })
    if (!isPending) this.#underWay.delete(uid)
    return isPending
  }

  #displaceNominated(pod: Pod, node: string): readonly Promise<void>[] {
    const displaced = this.#cache.nominatedPods(node).filter((other) => priorityOf(other) < priorityOf(pod))
    return displaced.map((other) => {
      this.#cache.nominations.remove(other.metadata.uid ?? '')
      const { namespace, name } = pod.metadata
      return this.#reporter.unnominated(other, `pod ${namespace}/${name}, which is more important, comes to ${node}`)
    })
  }

  async #evict(victim: Pod, pod: Pod, node: string): Promise<void> {
    const { name = '', namespace = '', uid, generation, deletionTimestamp } = victim.metadata
    // It leaves already, for another reason than this one.
    if (deletionTimestamp !== undefined) return
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
    const important = `${pod.metadata.namespace}/${pod.metadata.name}`
    const because = `pod ${important} of priority ${priorityOf(pod)} needs room on ${node}, this one has ${priorityOf(victim)}`
    const cause = this.#reporter.causeOf(pod, because)
    try {
      await this.#client.patch(podResource, key, { type: 'strategic', body }, { subresource: 'status', ...cause })
      await this.#client.delete(podResource, key, {
        ...(uid === undefined ? {} : { preconditions: { uid } }),
        ...cause,
      })
    } catch (error) {
      // Gone already, or another pod by that name: there is room.
      if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return
      throw error
    }
    this.#reporter.preempted(victim, pod, node)
  }
}
