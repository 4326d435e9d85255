import {
  type Demanding,
  isBeingResized,
  oncePerTemplate,
  type Pod,
  podRequests,
  quantitiesOf,
  type ResourceQuantities,
  specOnNode,
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
export const podRequestOf = ({ spec }: Pick<Pod, 'spec'>): PodRequest => requestsOf(spec)

/** What a pod takes of its node, where that may be more than it asks for. */
export const requestOnNode = (pod: Pod): PodRequest =>
  isBeingResized(pod) ? resourceAmounts(podRequests(specOnNode(pod))) : podRequestOf(pod)

/**
 * What a pod is taken to use when nodes are compared: as `podRequestOf`, but containers that ask for no CPU or no memory
 * count with some of it, unless the pod as a whole asks. Without that, nodes full of pods that ask for nothing would look
 * empty (upstream's NonZeroRequested).
 */
export const nonZeroRequestOf = ({ spec }: Pick<Pod, 'spec'>): PodRequest => nonZeroRequestsOf(spec)

function assumedFor(spec: Demanding): ResourceQuantities {
  if (spec.resources?.requests === undefined) return assumed
  const { milliCpu, memory } = requestsOf(spec)
  return new Map([...assumed].filter(([name]) => (name === 'cpu' ? milliCpu : memory) === 0))
}
