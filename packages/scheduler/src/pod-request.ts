import { type Pod, type PodSpec, podRequests, quantitiesOf, type ResourceQuantities, wholeAmount } from '@coracle/api'

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

const requests = new WeakMap<PodSpec, PodRequest>()
const nonZeroRequests = new WeakMap<PodSpec, PodRequest>()

/** What a pod asks for, computed once. */
export function podRequestOf({ spec }: Pod): PodRequest {
  return remember(requests, spec, () => resourceAmounts(podRequests(spec)))
}

/**
 * What a pod is taken to use when nodes are compared: as `podRequestOf`, but containers that ask for no CPU or no memory
 * count with some of it, unless the pod as a whole asks. Without that, nodes full of pods that ask for nothing would look
 * empty (upstream's NonZeroRequested).
 */
export function nonZeroRequestOf(pod: Pod): PodRequest {
  const { spec } = pod
  return remember(nonZeroRequests, spec, () => resourceAmounts(podRequests(spec, assumedFor(pod))))
}

function assumedFor(pod: Pod): ResourceQuantities {
  if (pod.spec.resources?.requests === undefined) return assumed
  const { milliCpu, memory } = podRequestOf(pod)
  return new Map([...assumed].filter(([name]) => (name === 'cpu' ? milliCpu : memory) === 0))
}

function remember(known: WeakMap<PodSpec, PodRequest>, spec: PodSpec, compute: () => PodRequest): PodRequest {
  const found = known.get(spec)
  if (found !== undefined) return found
  const request = compute()
  known.set(spec, request)
  return request
}
