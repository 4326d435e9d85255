import {
  ApiError,
  cronJobs,
  customResourceDefinitions,
  type Deployment,
  deployments,
  type Job,
  jobs,
  type KubernetesObject,
  type Node,
  nodes,
  type ObjectMeta,
  type Pod,
  pods,
  type Resource,
  replicaSets,
  resourceQuotas,
} from '@coracle/api'
import { type Client, ConnectionError } from '@coracle/client'
import type { Component } from '@coracle/cluster'
import type { VirtualEnvironment } from '@coracle/environment'
import { gadgetDefinition, gadgets, namespaceNames, resourceOf } from './kinds.ts'
import type { Network } from './network.ts'
import { type Fault, isFault, type Operation, type Owner, type Request, type Target } from './operation.ts'
import { withPatience } from './patience.ts'
import type { Servers } from './servers.ts'
import { controllerOf, hasEnded } from './view.ts'

const taintKey = 'example.dev/trouble'

/** How soon a component that could not start is started again. */
const restartMs = 10_000

/** Does what operations say, as an administrator with a good connection. */
export class Player {
  readonly #servers: Servers
  readonly #environment: VirtualEnvironment
  readonly #network: Network
  readonly #client: Client

  constructor(servers: Servers, environment: VirtualEnvironment, network: Network) {
    this.#servers = servers
    this.#environment = environment
    this.#network = network
    const [client] = servers.clients
    if (client === undefined) throw new Error('there is no server')
    this.#client = network.between(0, 'player', client)
  }

  /** Makes what operations need. */
  async prepare(operations: readonly Operation[]): Promise<void> {
    const needsGadgets = operations.some((each) => each.type === 'create' && each.object.kind === gadgets.kind)
    if (!needsGadgets) return
    await this.#client.create(customResourceDefinitions as Resource, gadgetDefinition as unknown as KubernetesObject)
    await this.#environment.clock.advance('1s')
  }

  async play(operation: Operation): Promise<void> {
    await this.#try(() =>
      isFault(operation) ? this.#fail(operation as Fault) : this.#ask(operation as Request, operation.atMs),
    )
  }

  /** Mends what is broken. What crashed comes back in its time. */
  mend(): void {
    this.#network.heal()
    this.#servers.heal()
  }

  /** Takes back what would keep things from coming to rest. */
  async calm(): Promise<void> {
    for (const { metadata, spec } of await this.#all<Node>(nodes)) {
      if (spec?.unschedulable !== true && !spec?.taints?.some(({ key }) => key === taintKey)) continue
      await this.#patch(nodes, metadata, { spec: { unschedulable: false } })
      await this.#taint({ metadata, spec } as Node, undefined)
    }
    for (const { metadata } of await this.#all(resourceQuotas)) {
      const key = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
      await this.#try(() => this.#client.delete(resourceQuotas, key, {}).then(() => {}))
    }
    for (const { metadata } of await this.#all(cronJobs))
      await this.#patch(cronJobs, metadata, { spec: { suspend: true } })
    for (const { metadata } of await this.#all(deployments))
      await this.#patch(deployments, metadata, { spec: { paused: false } })
    for (const { metadata, spec } of await this.#all<Job>(jobs)) {
      if (spec.parallelism === 0) await this.#patch(jobs, metadata, { spec: { parallelism: 1 } })
    }
    for (const { metadata } of await this.#all(gadgets))
      if (metadata.finalizers !== undefined) await this.#patch(gadgets, metadata, { metadata: { finalizers: null } })
  }

  /** Requests may be refused, about what is gone, or out of reach just now. That is the scenario's business. */
  async #try(action: () => Promise<void>): Promise<void> {
    try {
      await withPatience(this.#environment.clock, action())
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof ConnectionError) && !this.#servers.isExhausted) throw error
    }
  }

  async #fail(fault: Fault): Promise<void> {
    switch (fault.type) {
      case 'crash':
        return this.#crash(this.#servers.component(fault.server, fault.component), fault.forMs)
      case 'crash-node':
        return this.#crash(this.#servers.node(fault.node), fault.forMs)
      case 'crash-at-write': {
        const { server, writes, takesEffect, forMs } = fault
        const component = this.#servers.component(server, 'apiserver')
        this.#servers.crashAtWrite(server, writes, takesEffect, () => void this.#crash(component, forMs))
        return
      }
      case 'hand-over': {
        const component = this.#servers.component(fault.server, fault.component)
        await component?.stop()
        await component?.start()
        return
      }
      case 'bad-network':
        this.#network.makeBad(fault.probability, fault.forMs)
        return
      case 'partition':
        this.#network.partition(fault.server, fault.component, fault.direction, fault.forMs)
        return
      case 'lag':
        this.#network.delay(fault.server, fault.component, fault.delayMs, fault.forMs)
        return
      case 'cut-store': {
        const way = this.#servers.way(fault.server)
        way?.cut()
        this.#environment.clock.setTimer(fault.forMs, () => way?.restore())
        return
      }
      case 'lag-store': {
        const way = this.#servers.way(fault.server)
        way?.hold()
        this.#environment.clock.setTimer(fault.forMs, () => way?.release())
      }
    }
  }

  async #crash(component: Component | undefined, forMs: number): Promise<void> {
    if (component === undefined) return
    await component.crash()
    this.#environment.clock.setTimer(forMs, () => void this.#start(component))
  }

  /** Starts what crashed, again and again until it is at work, as whoever keeps services running does. */
  async #start(component: Component): Promise<void> {
    try {
      await component.start()
    } catch {
      if (this.#servers.isStopped) return
      await component.crash()
      this.#environment.clock.setTimer(restartMs, () => void this.#start(component))
    }
  }

  async #ask(request: Request, atMs: number): Promise<void> {
    switch (request.type) {
      case 'create':
        return this.#create(request.object, request.owners ?? [])
      case 'delete':
        await this.#client.delete(resourceOf(request.target.kind), request.target, {
          propagationPolicy: request.propagationPolicy,
        })
        return
      case 'change':
        return this.#patch(resourceOf(request.target.kind), request.target, { spec: request.spec })
      case 'scale': {
        const { target, replicas } = request
        const body = { spec: { replicas } }
        await this.#client.patch(resourceOf(target.kind), target, { type: 'merge', body }, { subresource: 'scale' })
        return
      }
      case 'set-image': {
        const { target, image } = request
        const body = { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } }
        await this.#client.patch(resourceOf(target.kind), target, { type: 'strategic', body })
        return
      }
      case 'undo':
        return this.#undo(request.target)
      case 'touch':
        return this.#patch(resourceOf(request.target.kind), request.target, {
          metadata: { annotations: { touched: String(atMs) } },
        })
      case 'release':
        return this.#patch(resourceOf(request.target.kind), request.target, { metadata: { finalizers: null } })
      case 'cordon':
      case 'drain':
      case 'taint':
        return this.#toNode(request)
      case 'delete-pod':
      case 'relabel-pod':
      case 'evict-pod':
        return this.#toPod(request)
    }
  }

  async #create(object: KubernetesObject, owners: readonly Owner[]): Promise<void> {
    const references = []
    for (const { kind, namespace, name, blockOwnerDeletion } of owners) {
      const key = { ...(namespace === undefined ? {} : { namespace }), name }
      const { apiVersion, metadata } = await this.#client.get(resourceOf(kind), key)
      references.push({ apiVersion, kind, name, uid: metadata.uid ?? '', blockOwnerDeletion })
    }
    const metadata = { ...object.metadata, ...(references.length === 0 ? {} : { ownerReferences: references }) }
    await this.#client.create(resourceOf(object.kind as Target['kind']), { ...object, metadata })
  }

  /** The template of the second youngest revision, as kubectl takes it. */
  async #undo({ namespace = '', name }: Target): Promise<void> {
    const deployment: Deployment = await this.#client.get(deployments, { namespace, name })
    const { items } = await this.#client.list(replicaSets, { namespace })
    const revisionOf = ({ metadata }: KubernetesObject) =>
      Number(metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0)
    const own = items
      .filter((set) => controllerOf(set)?.uid === deployment.metadata.uid)
      .sort((a, b) => revisionOf(b) - revisionOf(a))
    const template = own[1]?.spec.template
    if (template === undefined) return
    const { 'pod-template-hash': _hash, ...labels } = template.metadata?.labels ?? {}
    const body = { spec: { template: { ...template, metadata: { ...template.metadata, labels } } } }
    await this.#client.patch(deployments, { namespace, name }, { type: 'merge', body })
  }

  async #toNode(request: Extract<Request, { readonly type: 'cordon' | 'drain' | 'taint' }>): Promise<void> {
    const node = pickOf(await this.#all<Node>(nodes), request.pick)
    if (node === undefined) return
    switch (request.type) {
      case 'taint':
        return this.#taint(node, request.effect)
      case 'cordon':
        return this.#patch(nodes, node.metadata, { spec: { unschedulable: request.isCordoned } })
      case 'drain': {
        await this.#patch(nodes, node.metadata, { spec: { unschedulable: true } })
        const all = await this.#all<Pod>(pods)
        const own = all.filter(({ spec }) => spec.nodeName === node.metadata.name)
        for (const pod of own)
          if (controllerOf(pod)?.kind !== 'DaemonSet' && !hasEnded(pod)) await this.#try(() => this.#evict(pod))
      }
    }
  }

  async #taint({ metadata, spec }: Node, effect: 'NoSchedule' | 'NoExecute' | undefined): Promise<void> {
    const others = (spec?.taints ?? []).filter(
      ({ key }) => key !== taintKey && key !== 'node.kubernetes.io/unschedulable',
    )
    const cordon = (spec?.taints ?? []).filter(({ key }) => key === 'node.kubernetes.io/unschedulable')
    const taints = [...others, ...cordon, ...(effect === undefined ? [] : [{ key: taintKey, effect }])]
    await this.#patch(nodes, metadata, { spec: { taints } })
  }

  async #toPod(
    request: Extract<Request, { readonly type: 'delete-pod' | 'relabel-pod' | 'evict-pod' }>,
  ): Promise<void> {
    const pod = pickOf(await this.#all<Pod>(pods), request.pick)
    if (pod === undefined) return
    const key = { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name ?? '' }
    switch (request.type) {
      case 'delete-pod': {
        const { gracePeriodSeconds } = request
        await this.#client.delete(pods, key, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds })
        return
      }
      case 'relabel-pod':
        return this.#patch(pods, key, { metadata: { labels: { app: 'aside' } } })
      case 'evict-pod':
        return this.#evict(pod)
    }
  }

  async #evict({ metadata }: Pod): Promise<void> {
    const key = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
    await this.#client.createSubresource(pods, key, 'eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: key,
    })
  }

  async #patch<T extends KubernetesObject>(
    resource: Resource<T>,
    { namespace, name = '' }: Pick<ObjectMeta, 'namespace' | 'name'>,
    body: object,
  ): Promise<void> {
    const key = { ...(namespace === undefined ? {} : { namespace }), name }
    await this.#try(() => this.#client.patch(resource, key, { type: 'merge', body }).then(() => {}))
  }

  /** What there is of a kind; nothing where the server does not answer. */
  async #all<T extends KubernetesObject>(resource: Resource<T>): Promise<readonly T[]> {
    const found: T[] = []
    await this.#try(async () => {
      const { items } = await this.#client.list(resource)
      const near: ReadonlySet<string | undefined> = new Set([...namespaceNames, undefined])
      found.push(...items.filter(({ metadata }) => near.has(metadata.namespace)))
    })
    return found
  }
}

function pickOf<T>(values: readonly T[], pick: number): T | undefined {
  return values[Math.floor(pick * values.length)]
}
