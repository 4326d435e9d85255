import { claimsOfPod, HostPorts, hostPortsOf, type Node, type Pod, quantitiesOf } from '@coracle/api'
import { fnv1a } from '@coracle/environment'
import { nonZeroRequestOf, type ResourceAmounts, requestOnNode, resourceAmounts } from './pod-request.ts'
import { zoneOf } from './zones.ts'

/**
 * What the scheduler knows of a node: the node itself, its pods, and the sum of what they ask for. It is the scheduler's own
 * book-keeping and changes in place, one pod at a time, so that a pod's coming or going costs nothing but itself.
 */
export class NodeInfo {
  node: Node
  /** Region and zone in one text. */
  zone: string
  allocatable: ResourceAmounts
  /** None where the node has yet to say how many it takes. */
  podsMax: number
  milliCpu = 0
  memory = 0
  /** The same as pods are taken to use when nodes are compared, which is more where they do not say. */
  milliCpuNonZero = 0
  memoryNonZero = 0
  ephemeralStorage = 0
  readonly extended = new Map<string, number>()
  readonly hostPorts = new HostPorts()
  /** By uid. */
  readonly pods = new Map<string, Pod>()
  /** Those of them that have affinity or anti-affinity to pods. */
  readonly podsWithAffinity = new Map<string, Pod>()
  /** Those of them that use claims to volumes. */
  readonly podsWithClaims = new Map<string, Pod>()
  /** How many of them each owner has, by its uid. Pods that are being deleted do not count. */
  readonly podsByOwner = new Map<string, number>()
  /** Rises with each change of the node or its pods: what was found out about them holds as long as this stays. */
  version = 0
  /** Stands for the name where many nodes are compared. */
  readonly nameHash: number

  constructor(node: Node) {
    this.node = node
    this.nameHash = fnv1a(this.name)
    this.zone = zoneOf(node)
    this.allocatable = allocatableOf(node)
    this.podsMax = this.allocatable.extended.get('pods') ?? 0
  }

  get name(): string {
    return this.node.metadata.name ?? ''
  }

  get podCount(): number {
    return this.pods.size
  }

  /** Takes over a newer state of the node; its pods stay. */
  setNode(node: Node): void {
    if (node.status !== this.node.status) {
      this.allocatable = allocatableOf(node)
      this.podsMax = this.allocatable.extended.get('pods') ?? 0
    }
    if (node.metadata.labels !== this.node.metadata.labels) this.zone = zoneOf(node)
    this.node = node
    this.version++
  }

  add(pod: Pod): void {
    this.#setPod(pod)
    this.#account(pod, 1)
    this.hostPorts.add(hostPortsOf(pod.spec))
    this.version++
  }

  /** The pod asks for what it asked for before, and has changed otherwise. */
  update(pod: Pod): void {
    this.#setPod(pod)
    this.version++
  }

  /** Takes over a newer state of the pod in which nothing has changed that counts here. */
  refresh(pod: Pod): void {
    this.#setPod(pod)
  }

  remove(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const known = this.pods.get(uid)
    if (known === undefined) return
    this.pods.delete(uid)
    this.#countForOwners(known, -1)
    this.podsWithAffinity.delete(uid)
    this.podsWithClaims.delete(uid)
    this.#account(pod, -1)
    this.hostPorts.remove(hostPortsOf(pod.spec))
    this.version++
  }

  /** A second book of the same node, to try out changes in. */
  clone(): NodeInfo {
    const copy = new NodeInfo(this.node)
    for (const pod of this.pods.values()) copy.add(pod)
    return copy
  }

  #setPod(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const old = this.pods.get(uid)
    if (old !== undefined) this.#countForOwners(old, -1)
    this.#countForOwners(pod, 1)
    this.pods.set(uid, pod)
    const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {}
    if (podAffinity !== undefined || podAntiAffinity !== undefined) this.podsWithAffinity.set(uid, pod)
    if (claimsOfPod(pod).length > 0) this.podsWithClaims.set(uid, pod)
  }

  #countForOwners({ metadata: { deletionTimestamp, ownerReferences = [] } }: Pod, sign: 1 | -1): void {
    if (deletionTimestamp !== undefined) return
    const uids = ownerReferences.map(({ uid }) => uid)
    for (const uid of uids.length > 1 ? new Set(uids) : uids) {
      const count = (this.podsByOwner.get(uid) ?? 0) + sign
      if (count === 0) this.podsByOwner.delete(uid)
      else this.podsByOwner.set(uid, count)
    }
  }

  #account(pod: Pod, sign: 1 | -1): void {
    const request = requestOnNode(pod)
    const nonZero = nonZeroRequestOf(pod)
    this.milliCpu += sign * request.milliCpu
    this.memory += sign * request.memory
    this.milliCpuNonZero += sign * nonZero.milliCpu
    this.memoryNonZero += sign * nonZero.memory
    this.ephemeralStorage += sign * request.ephemeralStorage
    for (const [name, amount] of request.extended)
      this.extended.set(name, (this.extended.get(name) ?? 0) + sign * amount)
  }
}

const allocatableOf = ({ status }: Node): ResourceAmounts =>
  resourceAmounts(quantitiesOf(status?.allocatable ?? status?.capacity))
