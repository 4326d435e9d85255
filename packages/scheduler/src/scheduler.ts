import {
  claimNameOfPod,
  deepEqual,
  isBeingResized,
  type Namespace,
  type Node,
  namespaces as namespaceResource,
  nodes as nodeResource,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  pods as podResource,
  type Service,
  services,
} from '@coracle/api'
import { type Client, createInformer, type Informer, keyOf } from '@coracle/client'
import type { Environment, MetricsRegistry, Time } from '@coracle/environment'
import type { ClusterEvent } from './cluster-event.ts'
import { DeviceBinder } from './devices/device-binder.ts'
import { DeviceCache } from './devices/device-cache.ts'
import { type Diagnosis, explain, explainNoHelp } from './fit-error.ts'
import { Framework } from './framework.ts'
import type { NodeInfo } from './node-info.ts'
import { defaultPlugins, devicePlugins, volumePlugins } from './plugins/index.ts'
import { AttemptError, type Plugin } from './plugins/plugin.ts'
import { PodBinder } from './pod-binder.ts'
import { PodReporter } from './pod-reporter.ts'
import { Preemptor } from './preemption/preemptor.ts'
import type { Victims } from './preemption/victims.ts'
import type { PreparedPod } from './prepared-pod.ts'
import { schedule } from './schedule.ts'
import { isSeenAlike, SchedulerCache } from './scheduler-cache.ts'
import { type AttemptResult, SchedulerMetrics } from './scheduler-metrics.ts'
import { SchedulingQueue } from './scheduling-queue.ts'
import { StorageCache } from './storage/storage-cache.ts'
import { VolumeBinder } from './storage/volume-binder.ts'
import { WakeUps } from './wake-ups.ts'

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
  /** Schedules pods whose `spec.schedulerName` is this. */
  readonly name?: string
  /** The plugins in the order they are asked, beside those for volumes and devices; `defaultPlugins` by default. */
  readonly plugins?: readonly Plugin[]
  /** Where the scheduler's metrics go. Absent: none are kept. */
  readonly metrics?: MetricsRegistry
  /** The search ends once this share of all nodes fits the pod. By default upstream's share, which depends on the size of the cluster. */
  readonly percentageOfNodesToScore?: number
}

/** Assigns pods to nodes. */
export interface Scheduler {
  /** Resolves when it has seen all existing pods and nodes, and schedules. */
  start(): Promise<void>
  /** Resolves when no binding is under way any more. */
  stop(): Promise<void>
}

/** A scheduler that has yet to be started. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  return new SchedulerLoop(options)
}

class SchedulerLoop implements Scheduler {
  readonly #environment: Environment
  readonly #name: string
  readonly #percentageOfNodesToScore: number | undefined
  readonly #pods: Informer<Pod>
  readonly #nodes: Informer<Node>
  readonly #namespaces: Informer<Namespace>
  readonly #services: Informer<Service>
  readonly #budgets: Informer<PodDisruptionBudget>
  readonly #storage: StorageCache
  readonly #devices: DeviceCache
  readonly #deviceBinder: DeviceBinder
  readonly #volumes: VolumeBinder
  readonly #reporter: PodReporter
  readonly #preemptor: Preemptor
  readonly #binder: PodBinder
  readonly #cache = new SchedulerCache()
  readonly #framework: Framework
  readonly #queue: SchedulingQueue
  readonly #wakeUps: WakeUps
  readonly #metrics: SchedulerMetrics | undefined
  readonly #work = new Set<Promise<unknown>>()
  #searchStart = 0
  #isRunning = false
  #isTurnDue = false
  /** The queue was full at some time: pods may be pending that are not in it. */
  #hasOverflowed = false

  constructor(options: SchedulerOptions) {
    const { client, environment, name = defaultSchedulerName, plugins = defaultPlugins } = options
    this.#environment = environment
    this.#name = name
    this.#percentageOfNodesToScore = options.percentageOfNodesToScore
    this.#pods = createInformer(client, podResource, {}, environment)
    this.#nodes = createInformer(client, nodeResource, {}, environment)
    this.#namespaces = createInformer(client, namespaceResource, {}, environment)
    this.#services = createInformer(client, services, {}, environment)
    this.#budgets = createInformer(client, podDisruptionBudgets, {}, environment)
    this.#reporter = new PodReporter(client, environment, name)
    this.#preemptor = new Preemptor(client, environment, this.#budgets, this.#cache, this.#reporter)
    this.#storage = new StorageCache(client, environment, (event) => this.#storageChanged(event))
    this.#volumes = new VolumeBinder(client, environment.clock, this.#storage)
    this.#devices = new DeviceCache(client, environment, (event) => this.#devicesChanged(event))
    this.#deviceBinder = new DeviceBinder(client, environment, this.#devices, this.#reporter)
    this.#framework = new Framework([
      ...volumePlugins(this.#storage, this.#volumes),
      ...plugins,
      // Last, because they are slow: nodes that others refuse are not searched for devices.
      ...devicePlugins(this.#devices, this.#deviceBinder),
    ])
    this.#binder = new PodBinder(client, environment, this.#framework, this.#cache, this.#reporter)
    this.#queue = new SchedulingQueue(environment.clock, () => this.#scheduleTurn())
    this.#wakeUps = new WakeUps(this.#framework, this.#cache)
    const { metrics } = options
    this.#metrics = metrics === undefined ? undefined : new SchedulerMetrics(metrics, name, () => this.#queue.pending())
  }

  async start(): Promise<void> {
    this.#namespaces.addHandler({
      add: (namespace) => this.#namespaceChanged(namespace),
      update: (_, namespace) => this.#namespaceChanged(namespace),
      delete: ({ metadata: { name = '' } }) => this.#cache.removeNamespace(name),
    })
    this.#nodes.addHandler({
      add: (node) => this.#nodeChanged(node),
      update: (old, node) => this.#nodeChanged(node, old),
      delete: (node) => this.#nodeGone(node),
    })
    this.#services.addHandler({
      add: (service) => this.#cache.setService(service),
      update: (_, service) => this.#cache.setService(service),
      delete: (service) => this.#cache.removeService(service),
    })
    const others = [this.#namespaces, this.#nodes, this.#services, this.#budgets]
    for (const informer of others) informer.start()
    await Promise.all([
      this.#storage.start(),
      this.#devices.start(),
      ...others.map((informer) => informer.waitForSync()),
    ])
    this.#pods.addHandler({
      add: (pod) => this.#podChanged(pod),
      update: (old, pod) => this.#podChanged(pod, old),
      delete: (pod) => this.#podGone(pod),
    })
    this.#pods.start()
    await this.#pods.waitForSync()
    this.#isRunning = true
    this.#scheduleTurn()
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.#metrics?.close()
    this.#queue.close()
    this.#binder.stop()
    this.#volumes.stop()
    this.#deviceBinder.stop()
    const informers = [this.#pods, this.#nodes, this.#namespaces, this.#services, this.#budgets]
    await Promise.all([
      this.#storage.stop(),
      this.#devices.stop(),
      ...informers.map((informer) => informer.stop()),
      ...this.#work,
    ])
    await this.#reporter.stop()
  }

  #namespaceChanged(namespace: Namespace): void {
    const { name = '', labels } = namespace.metadata
    if (JSON.stringify(this.#cache.namespaceLabels(name)) === JSON.stringify(labels ?? {})) return
    this.#cache.setNamespace(namespace)
    this.#happened({ type: 'namespace-changed', namespace: name })
  }

  #storageChanged(event: ClusterEvent): void {
    this.#happened(event)
    this.#volumes.changed()
  }

  #devicesChanged(event: ClusterEvent): void {
    this.#happened(event)
    this.#deviceBinder.changed()
  }

  #nodeChanged(node: Node, old?: Node): void {
    this.#cache.setNode(node)
    if (old === undefined || mayAdmitMore(old, node)) this.#happened({ type: 'node-changed', node, old })
  }

  #nodeGone(node: Node): void {
    this.#cache.removeNode(node.metadata.name ?? '')
    this.#happened({ type: 'node-removed', node })
  }

  #podChanged(pod: Pod, before?: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const nodeName = pod.spec.nodeName
    if (isFinished(pod)) this.#podGone(pod)
    else if (nodeName) {
      this.#unqueue(uid)
      const wasAssumed = this.#binder.confirm(uid)
      this.#deviceBinder.podPlaced(uid)
      const old = this.#cache.place(pod, nodeName)
      if (wasAssumed || old === undefined) this.#happened({ type: 'pod-placed', pod, nodeName })
      else if (!deepEqual(old.spec, pod.spec) || isBeingResized(old) || !isSeenAlike(old, pod)) {
        this.#happened({ type: 'pod-placed', pod, old, nodeName })
      }
    } else if (this.#isOurs(pod)) {
      if (this.#binder.isAssumed(uid)) {
        this.#queue.refresh(pod)
        return
      }
      this.#noteNomination(pod, before)
      this.#enqueue(pod)
    } else this.#unqueue(uid)
  }

  /** Takes over a nomination that somebody else made or withdrew. One made here stays, though the API may not show it yet. */
  #noteNomination(pod: Pod, before?: Pod): void {
    const { nominatedNodeName } = pod.status ?? {}
    if (nominatedNodeName) this.#cache.nominations.set(pod, nominatedNodeName)
    else if (before?.status?.nominatedNodeName) this.#unnominate(pod.metadata.uid ?? '')
  }

  /** Withdraws a pod's nomination: its node has room for others then. */
  #unnominate(uid: string): void {
    const node = this.#cache.node(this.#cache.nominations.remove(uid) ?? '')?.node
    if (node !== undefined) this.#happened({ type: 'node-changed', node, old: node })
  }

  /** Forgets a pod that needs no node any more. */
  #unqueue(uid: string): void {
    this.#queue.remove(uid)
    this.#preemptor.forget(uid)
    this.#unnominate(uid)
  }

  #podGone(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    this.#unqueue(uid)
    this.#binder.confirm(uid)
    this.#volumes.podGone(uid)
    this.#deviceBinder.podGone(uid)
    const nodeName = this.#cache.remove(uid)
    if (nodeName !== undefined) this.#happened({ type: 'pod-removed', pod, nodeName })
  }

  /** Notes an event for the pods that rest: the next turn decides which of them are tried again. */
  #happened(event: ClusterEvent): void {
    if (!this.#queue.hasResting) return
    this.#wakeUps.add(event)
    this.#scheduleTurn()
  }

  #isOurs(pod: Pod): boolean {
    const { schedulerName, schedulingGates = [] } = pod.spec
    const isGated = schedulingGates.length > 0 || waitsForClaims(pod)
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
    if (!this.#wakeUps.isEmpty) this.#queue.retryResting(this.#wakeUps.take())
    for (let decisions = 0; decisions < decisionsPerTurnMax; decisions++) {
      if (!this.#isRunning || this.#work.size - this.#binder.preparing >= bindingsMax) return
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
      const isWaiting = !pod.spec.nodeName && !isFinished(pod) && this.#isOurs(pod)
      if (isWaiting && !this.#binder.isAssumed(pod.metadata.uid ?? '')) this.#enqueue(pod)
    }
  }

  #decide(pod: Pod): void {
    const startedMs = this.#environment.clock.monotonicMs()
    try {
      const decision = schedule(pod, this.#cache, this.#framework, {
        start: this.#searchStart,
        percentageOfNodesToScore: this.#percentageOfNodesToScore,
      })
      const { nodeCount } = this.#cache
      this.#searchStart = nodeCount === 0 ? 0 : (this.#searchStart + decision.examined) % nodeCount
      if (decision.type === 'fits') this.#track(pod, this.#bind(pod, decision.node, decision.because, startedMs))
      else {
        this.#track(pod, this.#putToRest(decision.prepared, decision.diagnosis))
        this.#attempted('unschedulable', startedMs)
      }
    } catch (error) {
      // One pod whose attempt fails must not hold up the others, let alone end the process.
      if (error instanceof AttemptError) this.#track(pod, this.#reporter.unbound(pod, 'SchedulerError', error.message))
      else this.#environment.logger.error('pod cannot be scheduled', { pod: keyOf(pod), error })
      this.#queue.failed(pod.metadata.uid ?? '')
      this.#attempted('error', startedMs)
    }
  }

  #attempted(result: AttemptResult, startedMs: Time): void {
    this.#metrics?.attempted(result, this.#environment.clock.monotonicMs() - startedMs)
  }

  /** Follows work that goes on beside the next decisions: errors are logged, and `stop` waits for it. */
  #track(pod: Pod, work: Promise<unknown>): void {
    const done = work
      .catch((error: unknown) => {
        this.#environment.logger.error('what was decided for a pod was not done', { pod: keyOf(pod), error })
      })
      .then(() => {
        this.#work.delete(done)
        this.#scheduleTurn()
      })
    this.#work.add(done)
  }

  async #bind(pod: Pod, node: NodeInfo, because: string, startedMs: Time): Promise<void> {
    const { uid = '' } = pod.metadata
    const attempts = this.#queue.attemptsOf(uid)
    this.#cache.nominations.remove(uid)
    this.#queue.placed(uid)
    if (await this.#binder.bind(pod, node, because)) {
      this.#unqueue(uid)
      this.#attempted('scheduled', startedMs)
      this.#metrics?.scheduled(attempts)
      return
    }
    this.#attempted('error', startedMs)
    this.#queue.failed(uid)
    this.#happened({ type: 'pod-removed', pod, nodeName: node.name })
  }

  /** A pod that fits no node rests. Less important pods are evicted for it where that helps, and its status and an event say why. */
  #putToRest(prepared: PreparedPod, diagnosis: Diagnosis): Promise<unknown> {
    const { pod } = prepared
    const { uid = '' } = pod.metadata
    const preemption = this.#preemptor.plan(prepared, diagnosis)
    if (preemption?.type === 'preempts') this.#cache.nominations.set(pod, preemption.victims.node.name)
    else if (preemption?.type === 'hopeless') this.#unnominate(uid)
    const nominated = this.#cache.nominatedNode(uid)
    const { rejection, refusals, namedBy } = diagnosis
    const refusedBy = new Set([...refusals.map(({ refusal }) => refusal.plugin), ...namedBy])
    if (rejection !== undefined) refusedBy.add(rejection.plugin)
    // A nominated pod is a group of its own.
    const { signature } = prepared
    const group = [signature, nominated === undefined ? '' : uid, ...refusedBy].join('\n')
    this.#queue.rest(uid, { group, signature, refusedBy })
    const help = this.#framework.postFilter(pod, refusedBy)
    const message = [explain(diagnosis), explainNoHelp(diagnosis, preemption, help?.message)].filter(Boolean).join(' ')
    const reported = this.#reporter.unbound(pod, 'Unschedulable', message, nominated ?? '')
    const helped = help?.done === undefined ? undefined : this.#help(pod, help.done)
    if (preemption?.type !== 'preempts') return Promise.all([reported, helped])
    this.#metrics?.preempts(preemption.victims.pods.length)
    return Promise.all([reported, helped, this.#preempt(pod, preemption.victims)])
  }

  /** Waits for what a plugin does to make a pod fit, whose success shows as an event. Where it fails there may be none: the pod is tried again. */
  async #help(pod: Pod, done: Promise<void>): Promise<void> {
    try {
      await done
    } catch (error) {
      this.#environment.logger.warn('what was to help a pod was not done', { pod: keyOf(pod), error })
      this.#queue.retry(pod.metadata.uid ?? '')
    }
  }

  async #preempt(pod: Pod, victims: Victims): Promise<void> {
    if (!(await this.#preemptor.preempt(pod, victims))) this.#queue.retry(pod.metadata.uid ?? '')
  }
}

/** Whether resource claims of the pod are still to be made from templates: it cannot be scheduled before. */
const waitsForClaims = (pod: Pod): boolean =>
  pod.spec.resourceClaims?.some((each) => claimNameOfPod(pod, each) === 'not-made') === true

const isFinished = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'

/** Whether a change of a node can make more pods fit: heartbeats cannot. */
function mayAdmitMore({ metadata: oldMeta, spec: oldSpec, status: oldStatus }: Node, { metadata, spec, status }: Node) {
  const old = [oldMeta.labels, oldSpec, oldStatus?.allocatable, oldStatus?.declaredFeatures]
  const now = [metadata.labels, spec, status?.allocatable, status?.declaredFeatures]
  return old.some((part, index) => part !== now[index] && JSON.stringify(part) !== JSON.stringify(now[index]))
}
