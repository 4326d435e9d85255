import type { AllocatedParts } from './device-plugin.ts'

/** The devices of one resource that a container has. */
export interface Allocation {
  readonly podUid: string
  readonly container: string
  readonly resource: string
  readonly deviceIds: readonly string[]
  /** What its plugin has said about them; undefined as long as it is being asked. */
  readonly parts: AllocatedParts | undefined
}

type Place = Pick<Allocation, 'podUid' | 'container' | 'resource'>

/** Which containers have which devices of a node. */
export class Allocations {
  readonly #byPod = new Map<string, Allocation[]>()

  /** The devices that a container has of a resource. */
  of({ podUid, container, resource }: Place): Allocation | undefined {
    return this.#byPod.get(podUid)?.find((each) => each.container === container && each.resource === resource)
  }

  ofContainer(podUid: string, container: string): readonly Allocation[] {
    return (this.#byPod.get(podUid) ?? []).filter((each) => each.container === container)
  }

  /** All devices of a resource that somebody has, or is about to get. */
  inUse(resource: string): ReadonlySet<string> {
    const used = [...this.#byPod.values()].flat().filter((each) => each.resource === resource)
    return new Set(used.flatMap(({ deviceIds }) => deviceIds))
  }

  /** Whether anybody has devices of a resource. */
  has(resource: string): boolean {
    return [...this.#byPod.values()].some((all) => all.some((each) => each.resource === resource))
  }

  /** In place of what the container had of the resource before. */
  set(allocation: Allocation): void {
    const all = this.#byPod.get(allocation.podUid) ?? []
    const others = all.filter(
      ({ container, resource }) => container !== allocation.container || resource !== allocation.resource,
    )
    this.#byPod.set(allocation.podUid, [...others, allocation])
  }

  /** Takes away all that a pod has. False where it had nothing. */
  release(podUid: string): boolean {
    return this.#byPod.delete(podUid)
  }

  podUids(): readonly string[] {
    return [...this.#byPod.keys()]
  }

  /** Those that plugins have answered for. */
  all(): readonly (Allocation & { readonly parts: AllocatedParts })[] {
    return [...this.#byPod.values()]
      .flat()
      .flatMap((each) => (each.parts === undefined ? [] : [{ ...each, parts: each.parts }]))
  }
}
