import {
  type Container,
  compareQuantity,
  type Demanding,
  formatQuantity,
  oncePerTemplate,
  type PodPhase,
  type PodSpec,
  type PodStatus,
  podLimits,
  podRequests,
  type ResourceList,
  type ResourceQuantities,
  type ResourceRequirements,
} from '@coracle/api'

type PodResourcesStatus = Pick<PodStatus, 'resources' | 'allocatedResources'>

/**
 * What a pod has as a whole: the pod is as the node has taken it on. Of one that runs it is what its control group would be
 * given: CPU and memory, and limits of these where every container has one (KEP-5419).
 */
export function podResourcesStatus(spec: PodSpec, phase: PodPhase): PodResourcesStatus {
  const { whenRunning, otherwise } = resourcesOf(spec)
  return phase === 'Running' ? whenRunning : otherwise
}

/** The same for all pods of a template, so that each has no more than a reference to it. */
const resourcesOf = oncePerTemplate((spec) => {
  const [requests, limits] = [podRequests(spec), podLimits(spec)]
  const allocated = requests.size === 0 ? {} : { allocatedResources: listOf(requests) }
  const status = (given: ResourceQuantities, most: ResourceQuantities): PodResourcesStatus => ({
    resources: resources(spec.resources, given, most),
    ...allocated,
  })
  const isGiven = (name: string) => name === 'cpu' || name === 'memory'
  return {
    otherwise: status(requests, limits),
    whenRunning: status(
      only(requests, isGiven),
      only(limits, (name) => isGiven(name) && isLimited(spec, name)),
    ),
  }
})

function resources(
  own: ResourceRequirements | undefined,
  requests: ResourceQuantities,
  limits: ResourceQuantities,
): ResourceRequirements {
  const [given, most] = [listOf(requests, own?.requests), listOf(limits, own?.limits)]
  return {
    ...own,
    ...(Object.keys(most).length === 0 ? {} : { limits: most }),
    ...(Object.keys(given).length === 0 ? {} : { requests: given }),
  }
}

function listOf(quantities: ResourceQuantities, own: ResourceList = {}): ResourceList {
  return { ...own, ...Object.fromEntries([...quantities].map(([name, amount]) => [name, formatQuantity(amount)])) }
}

const only = (quantities: ResourceQuantities, isWanted: (name: string) => boolean): ResourceQuantities =>
  new Map([...quantities].filter(([name]) => isWanted(name)))

/** Whether a pod may not use any amount of a resource: it has a limit as a whole, or all that runs in it has. */
function isLimited({ resources: own, containers, initContainers = [] }: Demanding, name: string): boolean {
  const isSet = (limits: ResourceList | undefined) => compareQuantity(limits?.[name] ?? '0', '0') !== 0
  const all: readonly Container[] = [...containers, ...initContainers]
  return isSet(own?.limits) || all.every(({ resources }) => isSet(resources?.limits))
}
