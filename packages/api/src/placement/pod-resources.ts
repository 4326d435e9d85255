import type { ResourceList } from '../kinds/core/common.ts'
import { type Container, isSidecar } from '../kinds/core/pod/container.ts'
import type { PodSpec } from '../kinds/core/pod/pod-spec.ts'
import { isPodLevelResource } from '../kinds/core/pod/resource-names.ts'
import {
  addQuantities,
  maxQuantities,
  noQuantities,
  quantitiesOf,
  type ResourceQuantities,
  replaceQuantities,
} from './resource-quantities.ts'

/** What of a pod says what it takes of a node. */
export type Demanding = Pick<PodSpec, 'containers' | 'initContainers' | 'resources' | 'overhead'>

/**
 * What a pod asks a node for: the requests of its containers as `sumOfContainers` has them, those of the pod as a whole in
 * their place where it has some, and its overhead (component-helpers' PodRequests). Containers that do not say how much of
 * a resource they need count with what is `assumed`, if anything is.
 */
export function podRequests(spec: Demanding, assumed: ResourceQuantities = noQuantities): ResourceQuantities {
  const ofContainers = sumOfContainers(spec, ({ resources }) =>
    replaceQuantities(assumed, quantitiesOf(resources?.requests)),
  )
  return addQuantities(withPodLevel(ofContainers, spec.resources?.requests), quantitiesOf(spec.overhead))
}

/** The most a pod may use, computed as its requests. Overhead adds to limits, but is none (component-helpers' PodLimits). */
export function podLimits(spec: PodSpec): ResourceQuantities {
  const ofContainers = sumOfContainers(spec, ({ resources }) => quantitiesOf(resources?.limits))
  const limits = withPodLevel(ofContainers, spec.resources?.limits)
  const overhead = [...quantitiesOf(spec.overhead)].filter(([name]) => (limits.get(name)?.nanos ?? 0n) !== 0n)
  return addQuantities(limits, new Map(overhead))
}

/**
 * What the containers of a pod have together: the sum of containers and sidecars, or what an init container needs beside
 * the sidecars started before it, whichever is more (KEP-753).
 */
export function sumOfContainers(
  spec: Pick<PodSpec, 'containers' | 'initContainers'>,
  quantities: (container: Container) => ResourceQuantities,
): ResourceQuantities {
  // Specs that have yet to be validated may lack their containers.
  const containers = (spec.containers ?? []).map(quantities).reduce(addQuantities, noQuantities)
  let sidecars = noQuantities
  let starting = noQuantities
  for (const container of spec.initContainers ?? []) {
    // A sum is written as its first amount is: upstream begins with the sidecars only where it adds one to them.
    if (isSidecar(container)) {
      sidecars = addQuantities(sidecars, quantities(container))
      starting = maxQuantities(starting, sidecars)
    } else starting = maxQuantities(starting, addQuantities(quantities(container), sidecars))
  }
  return maxQuantities(addQuantities(containers, sidecars), starting)
}

function withPodLevel(ofContainers: ResourceQuantities, list: ResourceList | undefined): ResourceQuantities {
  if (list === undefined) return ofContainers
  const ofPod = Object.entries(list).filter(([name]) => isPodLevelResource(name))
  return replaceQuantities(ofContainers, quantitiesOf(Object.fromEntries(ofPod)))
}
