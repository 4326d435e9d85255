import {
  type Container,
  compareQuantity,
  containerResourceValue,
  metadataFieldValue,
  type Pod,
  type ResourceFieldSelector,
} from '@coracle/api'

/** What the downward API says beyond the pod itself. */
export interface DownwardContext {
  readonly pod: Pod
  readonly podAddresses: readonly string[]
  readonly nodeAddress: string
  /** What the node offers: the limit of a container that sets none. */
  readonly allocatable: Readonly<Record<string, string>>
}

/** The value of a field of the pod. Throws with upstream's message where the path names none. */
export function fieldValue(path: string, context: DownwardContext): string {
  const { pod, podAddresses, nodeAddress } = context
  const own = metadataFieldValue(path, pod.metadata)
  if (own !== undefined) return own
  switch (path) {
    case 'spec.nodeName':
      return pod.spec.nodeName ?? ''
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? ''
    case 'status.hostIP':
    case 'status.hostIPs':
      return nodeAddress
    case 'status.podIP':
      return podAddresses[0] ?? ''
    case 'status.podIPs':
      return podAddresses.join(',')
    default:
      throw new Error(`unsupported fieldPath: ${path}`)
  }
}

/**
 * The value of the resource of this container, or of the one that the selector names. Throws as `containerResourceValue` does. For
 * a container, the limits of its pod as a whole are those that it has none of; for files of a volume there is no container, and
 * only the node counts. Of init containers nothing is presumed that others ask about (upstream's defaultPodLimitsForDownwardAPI).
 */
export function resourceValue(
  selector: ResourceFieldSelector,
  container: Container | undefined,
  context: DownwardContext,
): string {
  const { containerName = '' } = selector
  const target = containerName === '' ? container : named(containerName, context)
  if (target === undefined) throw new Error('the container is not named')
  if (container === undefined) return containerResourceValue(selector, target, context.allocatable)
  const { containers } = context.pod.spec
  const isPresumed = containerName === '' || containers.includes(target)
  return containerResourceValue(selector, target, isPresumed ? offeredToContainers(context) : {})
}

function offeredToContainers({ pod, allocatable }: DownwardContext): Readonly<Record<string, string>> {
  const limits = pod.spec.resources?.limits
  if (limits === undefined) return allocatable
  const ofPod = ['cpu', 'memory'].flatMap((name) => {
    const limit = limits[name]
    return limit === undefined || allocatable[name] === undefined || compareQuantity(limit, '0') === 0
      ? []
      : [[name, limit]]
  })
  return { ...allocatable, ...Object.fromEntries(ofPod) }
}

function named(name: string, { pod }: DownwardContext): Container {
  const found = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(
    (container) => container.name === name,
  )
  if (found === undefined) throw new Error(`container ${name} not found`)
  return found
}
