import {
  type Binding,
  formatTime,
  hasReason,
  type Node,
  nodes as nodeResource,
  type Pod,
  pods as podResource,
} from '@coracle/api'
import {
  type Client,
  createEventRecorder,
  createInformer,
  type EventRecorder,
  type Informer,
  keyOf,
} from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { NodeInfo } from './node-info.ts'
import { fitsSomewhere, schedule } from './schedule.ts'
import { SchedulerCache } from './scheduler-cache.ts'
import { SchedulingQueue } from './scheduling-queue.ts'

/** The scheduler that pods get when they name none. */
export const defaultSchedulerName = 'default-scheduler'

/** Bindings under way at once. */
const bindingsMax = 256

/** Pods decided on in one turn of the event loop, so that requests are answered in between. */
const decisionsPerTurnMax = 32

export interface SchedulerOptions {
  /** Acts as `system:kube-scheduler`. */
  readonly client: Client
  readonly environment: Environment
  /** Pods are taken whose `spec.schedulerName` is this. */
  readonly name?: string
}

/** Assigns pods to nodes. */
export interface Scheduler {
  /** Resolves when it has seen all pods and nodes there are and is at work. */
  start(): Promise<void>
  /** Resolves when no binding is under way any more. */
  stop(): Promise<void>
}

/** A scheduler that has yet to be started. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  return new SchedulerLoop(options)
}

class SchedulerLoop implements Scheduler {
  readonly #client: Client
  readonly #environment: Environment
  readonly #name: string
  readonly #pods: Informer<Pod>
  readonly #nodes: Informer<Node>
  readonly #recorder: EventRecorder
  readonly #cache = new SchedulerCache()
  readonly #queue: SchedulingQueue
  readonly #bindings = new Set<Promise<void>>()
  /** Nodes by uid of the pods bound to them, until the API shows it. */
  readonly #assumed = new Map<string, string>()
  /** Names of nodes that may take pods which found no place, since those were last looked at. */
  readonly #roomier = new Set<string>()
  #searchStart = 0
  #isRunning = false
  #isTurnDue = false
  /** The queue was full at some time: pods may wait in the informer that are not in it. */
  #hasOverflowed = false

  constructor({ client, environment, name = defaultSchedulerName }: SchedulerOptions) {
    this.#client = client
    this.#environment = environment
    this.#name = name
    this.#pods = createInformer(client, podResource, {}, environment)
    this.#nodes = createInformer(client, nodeResource, {}, environment)
    this.#recorder = createEventRecorder(client, environment, { component: name })
    this.#queue = new SchedulingQueue(environment.clock, () => this.#scheduleTurn())
  }

  async start(): Promise<void> {
    this.#nodes.addHandler({
      add: (node) => this.#nodeChanged(node),
      update: (_, node) => this.#nodeChanged(node),
      delete: (node) => this.#cache.removeNode(node.metadata.name ?? ''),
    })
    this.#nodes.start()
    await this.#nodes.waitForSync()
    this.#pods.addHandler({
      add: (pod) => this.#podChanged(pod),
      update: (_, pod) => this.#podChanged(pod),
      delete: (pod) => this.#podGone(pod),
    })
    this.#pods.start()
    await this.#pods.waitForSync()
    this.#isRunning = true
    this.#scheduleTurn()
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.#queue.close()
    await Promise.all([this.#pods.stop(), this.#nodes.stop(), ...this.#bindings])
    await this.#recorder.flush()
    this.#recorder.stop()
  }

  #nodeChanged(node: Node): void {
    const known = this.#cache.node(node.metadata.name ?? '')
    const mattersToPods = known === undefined || mayAdmitMore(known.node, node)
    this.#cache.setNode(node)
    if (mattersToPods) this.#hasMoreRoom(node.metadata.name ?? '')
  }

  #hasMoreRoom(node: string): void {
    this.#roomier.add(node)
    this.#scheduleTurn()
  }

  /**
   * Nodes take more than before. A pod that does not fit there even now is left to rest: nothing else has changed, so it
   * would only be refused again. Looked at once a turn, however many pods have gone in between.
   */
  #retryWhatFits(): void {
    if (this.#roomier.size === 0) return
    const nodes = [...this.#roomier].flatMap((name) => this.#cache.node(name) ?? [])
    this.#roomier.clear()
    this.#queue.retryUnschedulable((pod) => fitsSomewhere(pod, nodes))
  }

  #podChanged(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const node = pod.spec?.nodeName
    if (isFinished(pod)) this.#podGone(pod)
    else if (node) {
      this.#queue.remove(uid)
      this.#assumed.delete(uid)
      this.#cache.place(pod, node)
    } else if (this.#isOurs(pod)) {
      if (!this.#assumed.has(uid)) this.#enqueue(pod)
    } else this.#queue.remove(uid)
  }

  #podGone(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    this.#queue.remove(uid)
    this.#assumed.delete(uid)
    const node = this.#cache.remove(uid)
    if (node !== undefined) this.#hasMoreRoom(node)
  }

  #isOurs(pod: Pod): boolean {
    const { schedulerName, schedulingGates = [] } = pod.spec ?? {}
    const isGated = schedulingGates.length > 0
    return schedulerName === this.#name && !isGated && pod.metadata.deletionTimestamp === undefined
  }

  #enqueue(pod: Pod): void {
    if (!this.#queue.set(pod)) this.#hasOverflowed = true
  }

  #scheduleTurn(): void {
    if (this.#isTurnDue || !this.#isRunning) return
    this.#isTurnDue = true
    this.#environment.clock.defer(() => {
      this.#isTurnDue = false
      this.#turn()
    })
  }

  #turn(): void {
    this.#retryWhatFits()
    for (let decisions = 0; decisions < decisionsPerTurnMax; decisions++) {
      if (!this.#isRunning || this.#bindings.size >= bindingsMax) return
      const pod = this.#queue.take()
      if (pod === undefined) {
        this.#takeOverflow()
        return
      }
      this.#decide(pod)
    }
    this.#scheduleTurn()
  }

  #takeOverflow(): void {
    if (!this.#hasOverflowed) return
    this.#hasOverflowed = false
    for (const pod of this.#pods.list()) {
      if (!pod.spec?.nodeName && !isFinished(pod) && this.#isOurs(pod) && !this.#assumed.has(pod.metadata.uid ?? '')) {
        this.#enqueue(pod)
      }
    }
  }

  #decide(pod: Pod): void {
    const nodes = this.#cache.nodes
    let decision: ReturnType<typeof schedule>
    try {
      decision = schedule(pod, nodes, { random: this.#environment.random, start: this.#searchStart })
    } catch (error) {
      // A pod that cannot be judged is no reason for the others to wait, let alone for the process to end.
      this.#environment.logger.error('pod cannot be scheduled', { pod: keyOf(pod), error })
      this.#queue.failed(pod.metadata.uid ?? '', 'error')
      return
    }
    this.#searchStart = nodes.length === 0 ? 0 : (this.#searchStart + decision.examined) % nodes.length
    const work =
      decision.type === 'fits' ? this.#bind(pod, decision.node) : this.#reportUnschedulable(pod, decision.message)
    this.#bindings.add(work)
    void work.finally(() => {
      this.#bindings.delete(work)
      this.#scheduleTurn()
    })
  }

  /** The pod counts as placed from here on, long before the API says so; a failure takes that back. */
  async #bind(pod: Pod, info: NodeInfo): Promise<void> {
    const { name = '', namespace = '', uid = '' } = pod.metadata
    const node = info.node.metadata.name ?? ''
    this.#assumed.set(uid, node)
    this.#cache.place(pod, node)
    const binding: Binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { kind: 'Node', name: node },
    }
    try {
      await this.#client.createSubresource(podResource, { namespace, name }, 'binding', binding)
      this.#queue.remove(uid)
      this.#environment.logger.debug('pod assigned', { pod: `${namespace}/${name}`, node })
      this.#recorder.event(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`)
    } catch (error) {
      this.#forget(uid)
      this.#environment.logger.warn('binding failed', { pod: `${namespace}/${name}`, node, error })
      this.#queue.failed(uid, 'error')
      // Somebody else has deleted or bound it: there is nothing left to tell.
      if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return
      const message = `running Bind plugin "DefaultBinder": ${error instanceof Error ? error.message : String(error)}`
      await this.#report(pod, 'SchedulerError', message)
    }
  }

  #forget(uid: string): void {
    if (!this.#assumed.delete(uid)) return
    const node = this.#cache.remove(uid)
    if (node !== undefined) this.#hasMoreRoom(node)
  }

  async #reportUnschedulable(pod: Pod, message: string): Promise<void> {
    this.#queue.failed(pod.metadata.uid ?? '', 'unschedulable')
    await this.#report(pod, 'Unschedulable', message)
  }

  /** Tells, by an event and in the pod's status, why the pod has no node. */
  async #report(pod: Pod, reason: 'Unschedulable' | 'SchedulerError', message: string): Promise<void> {
    const { name = '', namespace = '', uid = '' } = pod.metadata
    this.#recorder.event(pod, 'Warning', 'FailedScheduling', message)
    const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    if (known?.status === 'False' && known.reason === reason && known.message === message) return
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      observedGeneration: pod.metadata.generation,
      lastTransitionTime:
        known?.status === 'False' ? known.lastTransitionTime : formatTime(this.#environment.clock.now()),
    }
    const body = { metadata: { uid }, status: { conditions: [condition] } }
    try {
      await this.#client.patch(podResource, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' })
    } catch (error) {
      this.#environment.logger.warn('recording why a pod has no node failed', { pod: `${namespace}/${name}`, error })
    }
  }
}

const isFinished = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'

/** Whether a change of a node can make a pod fit that did not: heartbeats cannot. */
function mayAdmitMore(old: Node, node: Node): boolean {
  const parts = ({ metadata, spec, status }: Node) => JSON.stringify([metadata.labels, spec, status?.allocatable])
  return parts(old) !== parts(node)
}
