import {
  cronJobs,
  customResourceDefinitions,
  deployments,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  type Job,
  jobs,
  type KubernetesObject,
  type Node,
  nodes,
  type ObjectMeta,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type ReplicaSet,
  type Resource,
  type ResourceQuota,
  replicaSets,
  resourceQuotas,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Component } from '@coracle/cluster'
import type { VirtualEnvironment } from '@coracle/environment'
import { Administrator, taintKey } from './administrator.ts'
import { Appliers, type FieldRequest, isFieldRequest } from './applying/appliers.ts'
import { priorityClassShapes, scarceLabel } from './demands.ts'
import { deviceOffers } from './devices.ts'
import { gadgetDefinition, gadgets, type Kind, resourceOf } from './kinds.ts'
import type { Network } from './network.ts'
import { type Fault, isFault, type Operation, type Request } from './operation.ts'
import { withPatience } from './patience.ts'
import type { Servers } from './servers.ts'
import { manualClass } from './shapes.ts'
import type { Trouble } from './trouble.ts'
import { controllerOf } from './view.ts'

/** How soon a component that could not start is started again. */
const restartMs = 10_000

/** So much of anything holds nobody up. */
const ample = '1000'

/** Does what operations say, as an administrator with a good connection. */
export class Player {
  readonly #servers: Servers
  readonly #environment: VirtualEnvironment
  readonly #network: Network
  readonly #trouble: Trouble
  readonly #client: Client
  readonly #administrator: Administrator
  readonly #appliers: Appliers

  /** `report` is told of rules that are broken. */
  constructor(
    servers: Servers,
    environment: VirtualEnvironment,
    network: Network,
    trouble: Trouble,
    report: (rule: string, message: string) => void,
  ) {
    this.#servers = servers
    this.#environment = environment
    this.#network = network
    this.#trouble = trouble
    const [client] = servers.clients
    if (client === undefined) throw new Error('there is no server')
    this.#client = network.between(0, 'player', client)
    this.#administrator = new Administrator(this.#client, {
      wait: (work) => withPatience(environment.clock, work),
      mayFail: () => servers.isExhausted,
    })
    this.#appliers = new Appliers(this.#client, servers.store, report)
  }

  /** Makes what operations need. */
  async prepare(operations: readonly Operation[]): Promise<void> {
    const needsGadgets = operations.some((each) => each.type === 'create' && each.object.kind === gadgets.kind)
    if (!needsGadgets) return
    await this.#client.create(customResourceDefinitions as Resource, gadgetDefinition as unknown as KubernetesObject)
    await this.#environment.clock.advance('1s')
  }

  async play(operation: Operation): Promise<void> {
    if (operation.type === 'manifest') {
      this.#servers.manifests?.set(this.#servers.nameOf(operation.node), operation.name, operation.image)
      return
    }
    await this.#administrator.try(() =>
      isFault(operation)
        ? this.#fail(operation as Fault)
        : isFieldRequest(operation as Request)
          ? this.#appliers.ask(operation as FieldRequest)
          : this.#administrator.ask(operation as Request, operation.atMs),
    )
  }

  /** Mends what is broken. What crashed comes back in its time. */
  mend(): void {
    this.#network.heal()
    this.#servers.heal()
  }

  /** Looks at what is judged by asking, when all is at rest. */
  check(): Promise<void> {
    return this.#appliers.check()
  }

  /** Takes back what would keep things from coming to rest. */
  async calm(): Promise<void> {
    for (const { metadata, spec } of await this.#administrator.all<Node>(nodes)) {
      if (spec?.unschedulable !== true && !spec?.taints?.some(({ key }) => key === taintKey)) continue
      await this.#administrator.patch(nodes, metadata, { spec: { unschedulable: false } })
      await this.#administrator.taint({ metadata, spec } as Node, undefined)
    }
    for (const { metadata, spec } of await this.#administrator.all<ResourceQuota>(resourceQuotas)) {
      const hard = Object.fromEntries(Object.keys(spec?.hard ?? {}).map((name) => [name, ample]))
      await this.#administrator.patch(resourceQuotas, metadata, { spec: { hard } })
    }
    for (const { metadata } of await this.#administrator.all(cronJobs))
      await this.#administrator.patch(cronJobs, metadata, { spec: { suspend: true } })
    for (const { metadata } of await this.#administrator.all(deployments))
      await this.#administrator.patch(deployments, metadata, { spec: { paused: false } })
    for (const { metadata, spec } of await this.#administrator.all<Job>(jobs)) {
      if (spec.parallelism === 0) await this.#administrator.patch(jobs, metadata, { spec: { parallelism: 1 } })
    }
    await this.#makeRoom()
    await this.#removeWhatWaits()
    await this.#offerDevices()
    for (const { metadata } of await this.#administrator.all(gadgets))
      if (metadata.finalizers !== undefined)
        await this.#administrator.patch(gadgets, metadata, { metadata: { finalizers: null } })
  }

  /** Pods that need much of a node have room there when there are few, and nobody's are among them no more. */
  async #makeRoom(): Promise<void> {
    const sets = await this.#administrator.all<ReplicaSet>(replicaSets)
    const scarce = sets.filter(({ spec }) => spec.template?.metadata?.labels?.[scarceLabel] !== undefined)
    for (const { metadata, spec } of scarce) {
      if ((spec.replicas ?? 1) > 1) await this.#administrator.patch(replicaSets, metadata, { spec: { replicas: 1 } })
    }
    // What pods wait for may have been lost on its way.
    if (scarce.length > 0) await this.#create(priorityClassShapes)
    for (const pod of await this.#administrator.all<Pod>(pods)) {
      const isScarce = pod.metadata.labels?.[scarceLabel] !== undefined
      if (isScarce && controllerOf(pod) === undefined) await this.#remove(pods, pod.metadata)
    }
  }

  /**
   * Autoscalers of nothing and claims without a volume complain as long as they are there. A pod that has its node, and has yet to
   * start when its claim is deleted, never does: as long as it is there the claim stays, and another of that name waits for a pod
   * without a node.
   */
  async #removeWhatWaits(): Promise<void> {
    for (const { metadata, spec } of await this.#administrator.all<HorizontalPodAutoscaler>(horizontalPodAutoscalers)) {
      const { kind, name } = spec.scaleTargetRef
      const { namespace } = metadata
      const targets = await this.#administrator.all(resourceOf(kind as Kind))
      if (targets.some((each) => each.metadata.name === name && each.metadata.namespace === namespace)) continue
      await this.#remove(horizontalPodAutoscalers, metadata)
    }
    for (const { metadata, spec } of await this.#administrator.all<PersistentVolumeClaim>(persistentVolumeClaims)) {
      const isWaiting = spec?.storageClassName === manualClass && spec.volumeName === undefined
      if (isWaiting) await this.#remove(persistentVolumeClaims, metadata)
      if (metadata.deletionTimestamp !== undefined || spec?.volumeName === undefined)
        await this.#removePodsThatWaitFor(metadata)
    }
  }

  /** Where pods take devices, and what they wait for was lost on its way. */
  async #offerDevices(): Promise<void> {
    const all = await this.#administrator.all<ReplicaSet>(replicaSets)
    if (all.every(({ spec }) => spec.template?.spec?.resourceClaims === undefined)) return
    await this.#create(deviceOffers)
  }

  /** Makes objects, where they are not there. */
  async #create(objects: readonly KubernetesObject[]): Promise<void> {
    for (const object of objects) {
      await this.#administrator.try(() => this.#administrator.ask({ type: 'create', object }, 0))
    }
  }

  async #removePodsThatWaitFor({ namespace, name }: ObjectMeta): Promise<void> {
    for (const { metadata, spec, status } of await this.#administrator.all<Pod>(pods)) {
      if (metadata.namespace !== namespace || status?.phase !== 'Pending' || spec.nodeName === undefined) continue
      const isUser = spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name)
      if (isUser === true) await this.#remove(pods, metadata)
    }
  }

  async #remove(resource: Resource, { namespace, name = '' }: ObjectMeta): Promise<void> {
    const key = { ...(namespace === undefined ? {} : { namespace }), name }
    await this.#administrator.try(() => this.#client.delete(resource, key, {}).then(() => {}))
  }

  async #fail(fault: Fault): Promise<void> {
    switch (fault.type) {
      case 'crash':
        return this.#crash(this.#servers.component(fault.server, fault.component), fault.forMs)
      case 'crash-node':
        return this.#crash(this.#servers.node(fault.node), fault.forMs)
      case 'remove-node':
        await this.#crash(this.#servers.node(fault.node), fault.forMs)
        await this.#remove(nodes, { name: this.#servers.nameOf(fault.node) })
        return
      case 'crash-at-write': {
        const { server, writes, takesEffect, forMs } = fault
        const component = this.#servers.component(server, 'apiserver')
        this.#servers.crashAtWrite(server, writes, takesEffect, () => void this.#crash(component, forMs))
        return
      }
      case 'hand-over': {
        const component = this.#servers.component(fault.server, fault.component)
        const ends = this.#trouble.begins()
        await component?.stop()
        await component?.start()
        ends()
        return
      }
      case 'bad-network':
        this.#trouble.lasts(fault.forMs)
        this.#network.makeBad(fault.probability, fault.forMs)
        return
      case 'partition':
        this.#trouble.lasts(fault.forMs)
        this.#network.partition(fault.server, fault.component, fault.direction, fault.forMs)
        return
      case 'lag':
        this.#trouble.lasts(fault.forMs)
        this.#network.delay(fault.server, fault.component, fault.delayMs, fault.forMs)
        return
      case 'cut-store': {
        const way = this.#servers.way(fault.server)
        this.#trouble.lasts(fault.forMs)
        way?.cut()
        this.#environment.clock.setTimer(fault.forMs, () => way?.restore())
        return
      }
      case 'lag-store': {
        const way = this.#servers.way(fault.server)
        this.#trouble.lasts(fault.forMs)
        way?.hold()
        this.#environment.clock.setTimer(fault.forMs, () => way?.release())
      }
    }
  }

  async #crash(component: Component | undefined, forMs: number): Promise<void> {
    if (component === undefined) return
    const ends = this.#trouble.begins()
    await component.crash()
    this.#environment.clock.setTimer(forMs, () => void this.#start(component, ends))
  }

  /** Starts what crashed, again and again until it is at work, as whoever keeps services running does. */
  async #start(component: Component, ends: () => void): Promise<void> {
    try {
      await component.start()
      ends()
    } catch {
      if (this.#servers.isStopped) return
      await component.crash()
      this.#environment.clock.setTimer(restartMs, () => void this.#start(component, ends))
    }
  }
}
