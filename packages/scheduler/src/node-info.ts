import { type HostPort, hostPortsOf, type Node, type Pod, quantitiesOf } from '@coracle/api'
import { nonZeroRequestOf, podRequestOf, type ResourceAmounts, resourceAmounts } from './pod-request.ts'

/**
 * What the scheduler knows of a node: the node itself, and the sum of what its pods ask for. It is the scheduler's own
 * book-keeping and changes in place, one pod at a time, so that a pod's coming or going costs nothing but itself.
 */
export class NodeInfo {
  node: Node
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
  readonly hostPorts: HostPort[] = []
  podCount = 0

  constructor(node: Node) {
    this.node = node
    this.allocatable = allocatableOf(node)
    this.podsMax = this.allocatable.extended.get('pods') ?? 0
  }

  /** Takes over a newer state of the node; its pods stay. */
  setNode(node: Node): void {
    if (node.status !== this.node.status) {
      this.allocatable = allocatableOf(node)
      this.podsMax = this.allocatable.extended.get('pods') ?? 0
    }
    this.node = node
  }

  add(pod: Pod): void {
    this.#account(pod, 1)
    for (const port of hostPortsOf(pod.spec)) this.hostPorts.push(port)
  }

  remove(pod: Pod): void {
    this.#account(pod, -1)
    for (const port of hostPortsOf(pod.spec)) {
      const at = this.hostPorts.findIndex(
        (used) => used.port === port.port && used.protocol === port.protocol && used.ip === port.ip,
      )
      if (at >= 0) this.hostPorts.splice(at, 1)
    }
  }

  #account(pod: Pod, sign: 1 | -1): void {
    const request = podRequestOf(pod)
    const nonZero = nonZeroRequestOf(pod)
    this.milliCpu += sign * request.milliCpu
    this.memory += sign * request.memory
    this.milliCpuNonZero += sign * nonZero.milliCpu
    this.memoryNonZero += sign * nonZero.memory
    this.ephemeralStorage += sign * request.ephemeralStorage
    for (const [name, amount] of request.extended)
      this.extended.set(name, (this.extended.get(name) ?? 0) + sign * amount)
    this.podCount += sign
  }
}

const allocatableOf = ({ status }: Node): ResourceAmounts =>
  resourceAmounts(quantitiesOf(status?.allocatable ?? status?.capacity))
