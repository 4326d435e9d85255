import {
  ApiError,
  compareRevisions,
  type Deployment,
  deploymentRevision,
  deployments,
  type KubernetesObject,
  type Node,
  nodes,
  type ObjectMeta,
  type OwnerReference,
  type Pod,
  pods,
  type Resource,
  replicaSets,
  simulatedUsageAnnotation,
} from '@coracle/api'
import { type Client, ConnectionError } from '@coracle/client'
import { giveFields } from './applying/appliers.ts'
import { namespaceNames, resourceOf } from './kinds.ts'
import type { Owner, Request, Target } from './operation.ts'
import { controllerOf, hasEnded } from './view.ts'

export const taintKey = 'example.dev/trouble'

/** How somebody waits for answers. */
export interface Patience {
  /** Lets time pass until the work is done, where nobody else does. */
  readonly wait: (work: Promise<void>) => Promise<void>
  /** Whether anything at all may go wrong by now. */
  readonly mayFail?: () => boolean
}

/** Asks a server for what users and administrators do. */
export class Administrator {
  readonly #client: Client
  readonly #patience: Patience

  constructor(client: Client, patience: Patience) {
    this.#client = client
    this.#patience = patience
  }

  /** Requests may be refused, about what is gone, or out of reach just now. That is the scenario's business. */
  async try(action: () => Promise<void>): Promise<void> {
    try {
      await this.#patience.wait(action())
    } catch (error) {
      const isExpected = error instanceof ApiError || error instanceof ConnectionError
      if (!isExpected && this.#patience.mayFail?.() !== true) throw error
    }
  }

  /** Does what a request says, `atMs` after the start. Rejects where the server refuses it. */
  async ask(request: Request, atMs: number): Promise<void> {
    switch (request.type) {
      case 'create':
        return this.#create(request.object, request.owners ?? [])
      case 'delete':
        await this.#client.delete(resourceOf(request.target.kind), request.target, {
          propagationPolicy: request.propagationPolicy,
        })
        return
      case 'change':
        return this.patch(resourceOf(request.target.kind), request.target, { spec: request.spec })
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
        return this.patch(resourceOf(request.target.kind), request.target, {
          metadata: { annotations: { touched: String(atMs) } },
        })
      case 'apply':
      case 'write-fields':
        await giveFields(this.#client, request)
        return
      case 'load':
        return this.#load(request.target, request.mebibytes)
      case 'own': {
        const { target, owner } = request
        const ownerReferences = [await this.#referenceTo(owner)]
        return this.patch(resourceOf(target.kind), target, { metadata: { ownerReferences } })
      }
      case 'release':
        return this.patch(resourceOf(request.target.kind), request.target, { metadata: { finalizers: null } })
      case 'manifest':
        // A file of a node: the API has nothing of it.
        return
      case 'label-node':
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
    for (const owner of owners) references.push(await this.#referenceTo(owner))
    const metadata = { ...object.metadata, ...(references.length === 0 ? {} : { ownerReferences: references }) }
    await this.#client.create(resourceOf(object.kind as Target['kind']), { ...object, metadata })
  }

  async #referenceTo({ kind, namespace, name, blockOwnerDeletion }: Owner): Promise<OwnerReference> {
    const key = { ...(namespace === undefined ? {} : { namespace }), name }
    const { apiVersion = '', metadata } = await this.#client.get(resourceOf(kind), key)
    return { apiVersion, kind, name, uid: metadata.uid ?? '', blockOwnerDeletion }
  }

  /** The template of the second youngest revision, as kubectl takes it. */
  async #undo({ namespace = '', name }: Target): Promise<void> {
    const deployment: Deployment = await this.#client.get(deployments, { namespace, name })
    const { items } = await this.#client.list(replicaSets, { namespace })
    const revisionOf = ({ metadata }: KubernetesObject) => deploymentRevision(metadata) ?? 0n
    const own = items
      .filter((set) => controllerOf(set)?.uid === deployment.metadata.uid)
      .sort((a, b) => compareRevisions(revisionOf(b), revisionOf(a)))
    const template = own[1]?.spec.template
    if (template === undefined) return
    const { 'pod-template-hash': _hash, ...labels } = template.metadata?.labels ?? {}
    const body = { spec: { template: { ...template, metadata: { ...template.metadata, labels } } } }
    await this.#client.patch(deployments, { namespace, name }, { type: 'merge', body })
  }

  async #load({ namespace, name }: Target, mebibytes: number): Promise<void> {
    const own = (await this.all<Pod>(pods)).filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.app === name,
    )
    for (const { metadata } of own)
      await this.patch(pods, metadata, {
        metadata: { annotations: { [simulatedUsageAnnotation]: `memory=${mebibytes}Mi` } },
      })
  }

  async #toNode(
    request: Extract<Request, { readonly type: 'label-node' | 'cordon' | 'drain' | 'taint' }>,
  ): Promise<void> {
    const node = pickOf(await this.all<Node>(nodes), request.pick)
    if (node === undefined) return
    switch (request.type) {
      case 'taint':
        return this.taint(node, request.effect)
      case 'label-node':
        return this.patch(nodes, node.metadata, { metadata: { labels: { [request.label]: request.value } } })
      case 'cordon':
        return this.patch(nodes, node.metadata, { spec: { unschedulable: request.isCordoned } })
      case 'drain': {
        await this.patch(nodes, node.metadata, { spec: { unschedulable: true } })
        const all = await this.all<Pod>(pods)
        const own = all.filter(({ spec }) => spec.nodeName === node.metadata.name)
        for (const pod of own)
          if (controllerOf(pod)?.kind !== 'DaemonSet' && !hasEnded(pod)) await this.try(() => this.#evict(pod))
      }
    }
  }

  /** Gives a node the taint of the scenario, or takes it away. */
  async taint({ metadata, spec }: Node, effect: 'NoSchedule' | 'NoExecute' | undefined): Promise<void> {
    const others = (spec?.taints ?? []).filter(
      ({ key }) => key !== taintKey && key !== 'node.kubernetes.io/unschedulable',
    )
    const cordon = (spec?.taints ?? []).filter(({ key }) => key === 'node.kubernetes.io/unschedulable')
    const taints = [...others, ...cordon, ...(effect === undefined ? [] : [{ key: taintKey, effect }])]
    await this.patch(nodes, metadata, { spec: { taints } })
  }

  async #toPod(
    request: Extract<Request, { readonly type: 'delete-pod' | 'relabel-pod' | 'evict-pod' }>,
  ): Promise<void> {
    const pod = pickOf(await this.all<Pod>(pods), request.pick)
    if (pod === undefined) return
    const key = { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name ?? '' }
    switch (request.type) {
      case 'delete-pod': {
        const { gracePeriodSeconds } = request
        await this.#client.delete(pods, key, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds })
        return
      }
      case 'relabel-pod':
        return this.patch(pods, key, { metadata: { labels: { app: 'aside' } } })
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

  /** Merges a patch into an object, if it is there. */
  async patch<T extends KubernetesObject>(
    resource: Resource<T>,
    { namespace, name = '' }: Pick<ObjectMeta, 'namespace' | 'name'>,
    body: object,
  ): Promise<void> {
    const key = { ...(namespace === undefined ? {} : { namespace }), name }
    await this.try(() => this.#client.patch(resource, key, { type: 'merge', body }).then(() => {}))
  }

  /** What there is of a kind; nothing where the server does not answer. */
  async all<T extends KubernetesObject>(resource: Resource<T>): Promise<readonly T[]> {
    const found: T[] = []
    await this.try(async () => {
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
