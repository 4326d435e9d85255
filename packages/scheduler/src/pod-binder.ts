import { type Binding, hasReason, type Pod, pods as podResource } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { type Framework, naming } from './framework.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodReporter } from './pod-reporter.ts'
import type { SchedulerCache } from './scheduler-cache.ts'

/** Puts pods on nodes. A pod counts as placed from the moment that is decided (it is assumed), long before the API says so. */
export class PodBinder {
  readonly #client: Client
  readonly #environment: Environment
  readonly #framework: Framework
  readonly #cache: SchedulerCache
  readonly #reporter: PodReporter
  /** Pods whose volumes are being made, for example: that may take minutes. */
  preparing = 0
  #isStopped = false
  /** Uids of pods until the API shows where they are. */
  readonly #assumed = new Set<string>()

  constructor(
    client: Client,
    environment: Environment,
    framework: Framework,
    cache: SchedulerCache,
    reporter: PodReporter,
  ) {
    this.#client = client
    this.#environment = environment
    this.#framework = framework
    this.#cache = cache
    this.#reporter = reporter
  }

  /** What is still being prepared is given up, and nobody is told: the next scheduler takes up the pods. */
  stop(): void {
    this.#isStopped = true
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid)
  }

  /** The API shows where the pod is, or that it is gone. Returns whether it was assumed. */
  confirm(uid: string): boolean {
    return this.#assumed.delete(uid)
  }

  /** Resolves to whether the pod is bound, and says why it is that node. Where it cannot be, it is on no node any more, and users are told why. */
  async bind(pod: Pod, node: NodeInfo, because: string): Promise<boolean> {
    const { name = '', namespace = '', uid = '' } = pod.metadata
    this.#assumed.add(uid)
    this.#cache.place(pod, node.name)
    let isPosted = false
    try {
      const refusal = this.#framework.reserve(pod, node)
      if (refusal !== undefined) throw new Error(refusal)
      await this.#prepare(pod, node)
      isPosted = true
      await naming('running Bind plugin "DefaultBinder"', this.#post(pod, node.name, because))
      this.#reporter.bound(pod, node.name)
      return true
    } catch (error) {
      this.#takeBack(pod, node)
      if (this.#isStopped && !isPosted) return false
      this.#environment.logger.warn('binding failed', { pod: `${namespace}/${name}`, node: node.name, error })
      const { message, cause } = error as Error
      // Where somebody else has deleted or bound it, there is nothing left to tell. Before that it is a volume or a claim that has changed.
      const isSettled = isPosted && (hasReason(cause, 'NotFound') || hasReason(cause, 'Conflict'))
      if (!isSettled) await this.#reporter.unbound(withExpectation(pod, node), 'SchedulerError', message, '')
      return false
    }
  }

  async #prepare(pod: Pod, node: NodeInfo): Promise<void> {
    this.preparing++
    try {
      // Whoever adds nodes, for example, sees where the pod will be long before it is bound.
      await this.#framework.preBind(pod, node, () => this.#reporter.expected(pod, node.name))
    } finally {
      this.preparing--
    }
  }

  #takeBack(pod: Pod, node: NodeInfo): void {
    const { uid = '' } = pod.metadata
    this.#framework.unreserve(pod, node)
    if (this.#assumed.delete(uid)) this.#cache.remove(uid)
  }

  async #post(pod: Pod, node: string, because: string): Promise<void> {
    const { name = '', namespace = '', uid = '' } = pod.metadata
    const binding: Binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { kind: 'Node', name: node },
    }
    const cause = this.#reporter.causeOf(pod, because)
    await this.#client.createSubresource(podResource, { namespace, name }, 'binding', binding, cause)
  }
}

/** The pod as it may have been told that it comes to the node. */
const withExpectation = (pod: Pod, node: NodeInfo): Pod => ({
  ...pod,
  status: { ...pod.status, nominatedNodeName: node.name },
})
