import {
  type KubernetesObject,
  type Node,
  nodes,
  type Pod,
  type PodStatus,
  pods,
  type Resource,
  replicaSets,
} from '@coracle/api'
import { startTestCluster, type TestCluster, type TestClusterOptions } from '@coracle/cluster/testing'
import { type Explanation, explain } from '@coracle/why'

export const namespace = 'default'
export const labels = { app: 'web' }
export const selector = { matchLabels: labels }
export const container = { name: 'main', image: 'example/web:1' }

/** A container of simulated nodes that ends by itself. */
export const ending = (forTime: string, exitCode: number) => ({
  ...container,
  env: [
    { name: 'SIMULATED_RUN', value: forTime },
    { name: 'SIMULATED_EXIT_CODE', value: String(exitCode) },
  ],
})

/** A template of pods with the labels that everything here selects. */
export const templateOf = (spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [container], ...spec },
})

/** A cluster in which something is brought about that does not work, and asked why. */
export class Situation {
  readonly #cluster: TestCluster

  constructor(cluster: TestCluster) {
    this.#cluster = cluster
  }

  static async start(options: TestClusterOptions = {}): Promise<Situation> {
    return new Situation(await startTestCluster({ seed: 7, ...options }))
  }

  get cluster(): TestCluster {
    return this.#cluster
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster.stop()
  }

  /** Creates an object, and lets what follows at once happen. */
  async create(resource: Resource, name: string, parts: object, in_ = namespace): Promise<void> {
    const { group, version, kind, namespaced } = resource
    const apiVersion = group === '' ? version : `${group}/${version}`
    const { metadata, ...rest } = parts as { readonly metadata?: object }
    const object = {
      apiVersion,
      kind,
      metadata: { name, ...(namespaced ? { namespace: in_ } : {}), ...metadata },
      ...rest,
    }
    await this.#cluster.client.create(resource, object as KubernetesObject)
    await this.#cluster.settle()
  }

  async patch(resource: Resource, name: string, body: object, options: object = {}): Promise<void> {
    await this.#cluster.client.patch(resource, keyOf(resource, name), { type: 'merge', body }, options)
    await this.#cluster.settle()
  }

  async delete(resource: Resource, name: string): Promise<void> {
    await this.#cluster.client.delete(resource, keyOf(resource, name))
    await this.#cluster.settle()
  }

  async replaceTemplate(resource: Resource, name: string, template: object): Promise<void> {
    await this.patch(resource, name, { spec: { template } })
  }

  async passes(time: string): Promise<void> {
    await this.#cluster.advance(time)
  }

  why(resource: Resource, name: string): Promise<Explanation> {
    const { client, environment } = this.#cluster
    const subject = { resource, name, ...(resource.namespaced ? { namespace } : {}) }
    return explain({ client, causes: this.#cluster, clock: environment.clock }, subject)
  }

  /** The first cause that is named: reason, object and words. */
  async cause(resource: Resource, name: string): Promise<string> {
    const { findings } = await this.why(resource, name)
    const [first] = findings
    if (first === undefined) return 'none'
    return `${first.reason} of ${first.object.kind.toLowerCase()}/${first.object.name}: ${first.because}`
  }

  /** What would help against that. */
  async remedy(resource: Resource, name: string): Promise<string> {
    return (await this.why(resource, name)).findings[0]?.remedy ?? 'none'
  }

  async verdict(resource: Resource, name: string): Promise<string> {
    return (await this.why(resource, name)).verdict
  }

  /** The name of the only pod. */
  async onlyPod(): Promise<string> {
    const { items } = await this.#cluster.client.list<Pod>(pods, { namespace })
    return items[0]?.metadata.name ?? ''
  }

  /** A node without an agent: the test says what its pods are like. */
  async addNode(name: string): Promise<void> {
    await this.create(nodes, name, {})
    const status: Node['status'] = {
      allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
      capacity: { cpu: '4', memory: '8Gi', pods: '110' },
      conditions: [
        { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
      ],
    }
    await this.patch(nodes, name, { status }, { subresource: 'status' })
    await this.patch(nodes, name, { spec: { taints: null } })
  }

  /** Says of a pod what the agent of its node would. */
  async report(name: string, status: Partial<PodStatus>): Promise<void> {
    await this.patch(pods, name, { status }, { subresource: 'status' })
  }

  /** The newest ReplicaSet's name. */
  async onlySet(): Promise<string> {
    const { items } = await this.#cluster.client.list(replicaSets, { namespace })
    return items[0]?.metadata.name ?? ''
  }
}

const keyOf = ({ namespaced }: Resource, name: string) => (namespaced ? { namespace, name } : { name })
