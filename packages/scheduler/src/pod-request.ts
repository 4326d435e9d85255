import { type Container, type Pod, type PodSpec, quantityMilli, quantityValue, type ResourceList } from '@coracle/api'

/** Amounts as plain numbers: millicores, bytes, and whole units of everything else. */
export interface ResourceAmounts {
  readonly milliCpu: number
  readonly memory: number
  readonly ephemeralStorage: number
  readonly extended: ReadonlyMap<string, number>
}

/** What a pod asks a node for. */
export type PodRequest = ResourceAmounts

/** A port of the node that a pod occupies. */
export interface HostPort {
  readonly ip: string
  readonly protocol: string
  readonly port: number
}

const nothing: ResourceAmounts = { milliCpu: 0, memory: 0, ephemeralStorage: 0, extended: new Map() }

/** Reads a resource list. */
export function resourceAmounts(list: ResourceList | undefined): ResourceAmounts {
  if (list === undefined) return nothing
  const extended = new Map<string, number>()
  for (const [name, amount] of Object.entries(list)) {
    if (name !== 'cpu' && name !== 'memory' && name !== 'ephemeral-storage') extended.set(name, quantityValue(amount))
  }
  return {
    milliCpu: list.cpu === undefined ? 0 : quantityMilli(list.cpu),
    memory: list.memory === undefined ? 0 : quantityValue(list.memory),
    ephemeralStorage: list['ephemeral-storage'] === undefined ? 0 : quantityValue(list['ephemeral-storage']),
    extended,
  }
}

/** What a container that says nothing is taken to use when nodes are compared. */
const milliCpuAssumed = 100
const memoryAssumed = 200 * 1024 * 1024

const requests = new WeakMap<PodSpec, PodRequest>()
const nonZeroRequests = new WeakMap<PodSpec, PodRequest>()

/**
 * What a pod asks for: the sum of its containers and sidecars, or what an init container needs on its own beside the
 * sidecars started before it, whichever is more; and the pod's overhead. Requests of the pod as a whole override those
 * of its containers. The rule is upstream's (component-helpers' PodRequests).
 */
export function podRequestOf({ spec }: Pod): PodRequest {
  if (spec === undefined) return nothing
  return remember(requests, spec, () => sumOf(spec, ({ resources }) => resourceAmounts(resources?.requests)))
}

/**
 * What a pod is taken to use when nodes are compared: as `podRequestOf`, but containers that ask for no CPU or no memory
 * count with some of it. Without that, nodes full of pods that ask for nothing would look empty (upstream's
 * NonZeroRequested).
 */
export function nonZeroRequestOf(pod: Pod): PodRequest {
  const { spec } = pod
  if (spec === undefined) return nothing
  return remember(nonZeroRequests, spec, () => {
    const ofPod = spec.resources === undefined ? nothing : podRequestOf(pod)
    return sumOf(spec, ({ resources }) => {
      const amounts = resourceAmounts(resources?.requests)
      const lacksCpu = resources?.requests?.cpu === undefined && ofPod.milliCpu === 0
      const lacksMemory = resources?.requests?.memory === undefined && ofPod.memory === 0
      if (!lacksCpu && !lacksMemory) return amounts
      return {
        ...amounts,
        milliCpu: lacksCpu ? milliCpuAssumed : amounts.milliCpu,
        memory: lacksMemory ? memoryAssumed : amounts.memory,
      }
    })
  })
}

function remember(known: WeakMap<PodSpec, PodRequest>, spec: PodSpec, compute: () => PodRequest): PodRequest {
  const found = known.get(spec)
  if (found !== undefined) return found
  const request = compute()
  known.set(spec, request)
  return request
}

function sumOf(spec: PodSpec, requestOf: (container: Pick<Container, 'resources'>) => ResourceAmounts): PodRequest {
  let running = spec.containers.map(requestOf).reduce(plus, nothing)
  let sidecars = nothing
  let starting = nothing
  for (const container of spec.initContainers ?? []) {
    const request = requestOf(container)
    if (container.restartPolicy === 'Always') {
      running = plus(running, request)
      sidecars = plus(sidecars, request)
      starting = most(starting, sidecars)
    } else {
      starting = most(starting, plus(sidecars, request))
    }
  }
  const ofContainers = most(running, starting)
  const ofPod = spec.resources?.requests === undefined ? ofContainers : override(ofContainers, spec.resources.requests)
  return plus(ofPod, resourceAmounts(spec.overhead))
}

/** The ports of the node that a pod occupies while it is there. */
export function hostPortsOf(pod: Pod): readonly HostPort[] {
  const containers = [
    ...(pod.spec?.containers ?? []),
    ...(pod.spec?.initContainers ?? []).filter((container) => container.restartPolicy === 'Always'),
  ]
  return containers.flatMap((container) =>
    (container.ports ?? [])
      .filter(({ hostPort }) => hostPort !== undefined && hostPort > 0)
      .map(({ hostIP, protocol, hostPort }) => ({
        ip: hostIP || '0.0.0.0',
        protocol: protocol ?? 'TCP',
        port: hostPort ?? 0,
      })),
  )
}

const plus = (a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts => combine(a, b, (x, y) => x + y)

const most = (a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts => combine(a, b, Math.max)

function combine(a: ResourceAmounts, b: ResourceAmounts, merge: (x: number, y: number) => number): ResourceAmounts {
  if (b === nothing) return a
  if (a === nothing) return b
  const names = new Set([...a.extended.keys(), ...b.extended.keys()])
  return {
    milliCpu: merge(a.milliCpu, b.milliCpu),
    memory: merge(a.memory, b.memory),
    ephemeralStorage: merge(a.ephemeralStorage, b.ephemeralStorage),
    extended: new Map([...names].map((name) => [name, merge(a.extended.get(name) ?? 0, b.extended.get(name) ?? 0)])),
  }
}

function override(amounts: ResourceAmounts, list: ResourceList): ResourceAmounts {
  const own = resourceAmounts(list)
  return {
    milliCpu: list.cpu === undefined ? amounts.milliCpu : own.milliCpu,
    memory: list.memory === undefined ? amounts.memory : own.memory,
    ephemeralStorage: list['ephemeral-storage'] === undefined ? amounts.ephemeralStorage : own.ephemeralStorage,
    extended: new Map([...amounts.extended, ...own.extended]),
  }
}
