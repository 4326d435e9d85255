import {
  type Container,
  compareQuantity,
  type Demanding,
  oncePerTemplate,
  type Pod,
  type PodCondition,
  podRequests,
  quantitiesOf,
  type ResourceList,
  type ResourceQuantities,
  wholeAmount,
} from '@coracle/api'

/** Amounts as plain numbers: millicores, bytes, and whole units of everything else. */
export interface ResourceAmounts {
  readonly milliCpu: number
  readonly memory: number
  readonly ephemeralStorage: number
  readonly extended: ReadonlyMap<string, number>
}

/** What a pod asks a node for. */
export type PodRequest = ResourceAmounts

/** The amounts as the scheduler counts them. */
export function resourceAmounts(quantities: ResourceQuantities): ResourceAmounts {
  let [milliCpu, memory, ephemeralStorage] = [0, 0, 0]
  const extended = new Map<string, number>()
  for (const [name, quantity] of quantities) {
    const amount = wholeAmount(name, quantity)
    if (name === 'cpu') milliCpu = amount
    else if (name === 'memory') memory = amount
    else if (name === 'ephemeral-storage') ephemeralStorage = amount
    else extended.set(name, amount)
  }
  return { milliCpu, memory, ephemeralStorage, extended }
}

/** What a container that says nothing is taken to use when nodes are compared. */
const assumed = quantitiesOf({ cpu: '100m', memory: '200Mi' })

const requestsOf = oncePerTemplate((spec) => resourceAmounts(podRequests(spec)))

const nonZeroRequestsOf = oncePerTemplate((spec) => resourceAmounts(podRequests(spec, assumedFor(spec))))

/** What a pod asks for. */
export const podRequestOf = ({ spec }: Pod): PodRequest => requestsOf(spec)

/**
 * What a pod takes of its node. While a change of its resources is under way that is what it has or asks for, whichever is more; what the
 * node can never give it is not asked for (component-helpers' PodRequests with UseStatusResources).
 */
export function requestOnNode(pod: Pod): PodRequest {
  if (!isBeingResized(pod)) return podRequestOf(pod)
  const { spec, status } = pod
  const pending = status?.conditions?.find(isPendingResize)
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
  const taken = (container: Container): Container => {
    const given = statuses.find(({ name }) => name === container.name)
    if (given?.allocatedResources === undefined) return container
    const asked = pending?.reason === 'Infeasible' ? {} : container.resources?.requests
    return { ...container, resources: { requests: largerOf(asked, given.allocatedResources) } } as Container
  }
  const initContainers = spec.initContainers?.map(taken)
  return resourceAmounts(
    podRequests({
      ...spec,
      containers: spec.containers.map(taken),
      ...(initContainers === undefined ? {} : { initContainers }),
    }),
  )
}

/** Whether a pod may have other resources than it asks for. */
export function isBeingResized({ metadata, status }: Pod): boolean {
  if (status?.containerStatuses === undefined) return false
  return status.observedGeneration !== metadata.generation || status.conditions?.some(isPendingResize) === true
}

const isPendingResize = ({ type }: PodCondition): boolean => type === 'PodResizePending'

function largerOf(asked: ResourceList = {}, given: ResourceList): ResourceList {
  const larger = Object.entries(asked).filter(([name, amount]) => compareQuantity(amount, given[name] ?? '0') > 0)
  return { ...given, ...Object.fromEntries(larger) }
}

/**
 * What a pod is taken to use when nodes are compared: as `podRequestOf`, but containers that ask for no CPU or no memory
 * count with some of it, unless the pod as a whole asks. Without that, nodes full of pods that ask for nothing would look
 * empty (upstream's NonZeroRequested).
 */
export const nonZeroRequestOf = ({ spec }: Pod): PodRequest => nonZeroRequestsOf(spec)

function assumedFor(spec: Demanding): ResourceQuantities {
  if (spec.resources?.requests === undefined) return assumed
  const { milliCpu, memory } = requestsOf(spec)
  return new Map([...assumed].filter(([name]) => (name === 'cpu' ? milliCpu : memory) === 0))
}
