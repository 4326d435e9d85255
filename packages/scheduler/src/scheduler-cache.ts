import { deepEqual, isBeingResized, type Labels, type Namespace, type Node, type Pod, type Service } from '@coracle/api'
import type { Cluster } from './cluster.ts'
import { type NodeIndex, NodeIndexes } from './node-indexes.ts'
import { NodeInfo } from './node-info.ts'
import { Nominations } from './nominations.ts'
import { interleaveZones } from './zones.ts'

const noLabels: Labels = {}

/**
 * Which pods are on which node, as far as the scheduler knows: what the API says, and what it has decided itself and
 * the API does not show yet (assumed pods). A change costs what changed.
 */
export class SchedulerCache implements Cluster {
  readonly #nodes = new Map<string, NodeInfo>()
  /** Names of nodes by uid of the pods on them. */
  readonly #places = new Map<string, string>()
  /** Pods of nodes that have not been seen yet, or are gone, by node and uid. */
  readonly #strays = new Map<string, Map<string, Pod>>()
  readonly #namespaces = new Map<string, Labels>()
  readonly nominations = new Nominations()
  readonly nodesWithAffinity = new Set<NodeInfo>()
  readonly #indexes = new NodeIndexes(this.#nodes)
  #list: readonly NodeInfo[] | undefined = []
  /** What services select by, by namespace and name. */
  readonly #services = new Map<string, Map<string, Labels>>()
  namespacesVersion = 0

  get nodes(): readonly NodeInfo[] {
    this.#list ??= interleaveZones([...this.#nodes.values()])
    return this.#list
  }

  get nodeCount(): number {
    return this.#nodes.size
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name)
  }

  get hasNominatedPods(): boolean {
    return !this.nominations.isEmpty
  }

  nominatedPods(node: string): readonly Pod[] {
    return this.nominations.podsOf(node)
  }

  nominatedNode(uid: string): string | undefined {
    return this.nominations.nodeOf(uid)
  }

  namespaceLabels(name: string): Labels {
    return this.#namespaces.get(name) ?? noLabels
  }

  serviceSelectors(namespace: string): readonly Labels[] {
    return [...(this.#services.get(namespace)?.values() ?? [])]
  }

  index<I extends NodeIndex>(key: string, create: () => I): I {
    return this.#indexes.get(key, create)
  }

  setNamespace({ metadata: { name = '', labels = noLabels } }: Namespace): void {
    this.#namespaces.set(name, labels)
    this.namespacesVersion++
  }

  removeNamespace(name: string): void {
    if (this.#namespaces.delete(name)) this.namespacesVersion++
  }

  setService(service: Service): void {
    const { namespace = '', name = '' } = service.metadata
    const selector = service.spec?.selector ?? noLabels
    if (Object.keys(selector).length === 0) {
      this.removeService(service)
      return
    }
    const services = this.#services.get(namespace) ?? new Map<string, Labels>()
    this.#services.set(namespace, services.set(name, selector))
  }

  removeService({ metadata: { namespace = '', name = '' } }: Service): void {
    const services = this.#services.get(namespace)
    services?.delete(name)
    if (services?.size === 0) this.#services.delete(namespace)
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? ''
    const known = this.#nodes.get(name)
    const info = known ?? new NodeInfo(node)
    if (known === undefined) {
      for (const pod of this.#strays.get(name)?.values() ?? []) info.add(pod)
      this.#strays.delete(name)
      this.#nodes.set(name, info)
      this.#list = undefined
    } else {
      const { zone } = known
      known.setNode(node)
      if (known.zone !== zone) this.#list = undefined
    }
    this.#changed(info)
  }

  removeNode(name: string): void {
    const known = this.#nodes.get(name)
    if (known === undefined) return
    if (known.pods.size > 0) this.#strays.set(name, known.pods)
    this.#nodes.delete(name)
    this.nodesWithAffinity.delete(known)
    this.#list = undefined
    this.#indexes.changed(name)
  }

  /**
   * The pod is on the node: by the API's word, or assumed while the binding is under way. Returns the pod as it was there
   * before, where it was.
   */
  place(pod: Pod, node: string): Pod | undefined {
    const uid = pod.metadata.uid ?? ''
    const known = this.#places.get(uid) === node ? this.#podsOf(node).get(uid) : undefined
    const info = this.#nodes.get(node)
    const isSame =
      known !== undefined && deepEqual(known.spec, pod.spec) && !isBeingResized(known) && !isBeingResized(pod)
    if (!isSame) this.remove(uid)
    this.#places.set(uid, node)
    if (info === undefined) {
      this.#stray(uid, pod, node)
      return known
    }
    if (isSame && isSeenAlike(known, pod)) {
      info.refresh(pod)
      return known
    }
    if (isSame) info.update(pod)
    else info.add(pod)
    this.#changed(info)
    return known
  }

  /** The pod is on no node any more, or never came there. Returns the name of the node it was on. */
  remove(uid: string): string | undefined {
    const node = this.#places.get(uid)
    if (node === undefined) return undefined
    this.#places.delete(uid)
    const info = this.#nodes.get(node)
    const pod = this.#podsOf(node).get(uid)
    if (info === undefined) this.#removeStray(uid, node)
    else if (pod !== undefined) {
      info.remove(pod)
      this.#changed(info)
    }
    return node
  }

  #changed(info: NodeInfo): void {
    if (info.podsWithAffinity.size > 0) this.nodesWithAffinity.add(info)
    else this.nodesWithAffinity.delete(info)
    this.#indexes.changed(info.name)
  }

  #podsOf(node: string): ReadonlyMap<string, Pod> {
    return this.#nodes.get(node)?.pods ?? this.#strays.get(node) ?? noPods
  }

  #stray(uid: string, pod: Pod, node: string): void {
    const strays = this.#strays.get(node) ?? new Map<string, Pod>()
    this.#strays.set(node, strays.set(uid, pod))
  }

  #removeStray(uid: string, node: string): void {
    const strays = this.#strays.get(node)
    strays?.delete(uid)
    if (strays?.size === 0) this.#strays.delete(node)
  }
}

const noPods: ReadonlyMap<string, Pod> = new Map()

/** Whether nothing that a plugin looks at in other pods has changed between them, given the same spec. */
export function isSeenAlike({ metadata: a }: Pod, { metadata: b }: Pod): boolean {
  return (a.deletionTimestamp === undefined) === (b.deletionTimestamp === undefined) && sameLabels(a.labels, b.labels)
}

function sameLabels(a: Labels = noLabels, b: Labels = noLabels): boolean {
  if (a === b) return true
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}
