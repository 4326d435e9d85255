import {
  type Container,
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

/** The value of the resource of this container, or of the one that the selector names. Throws as `containerResourceValue` does. */
export function resourceValue(
  selector: ResourceFieldSelector,
  container: Container | undefined,
  context: DownwardContext,
): string {
  const { containerName = '' } = selector
  const target = containerName === '' ? container : named(containerName, context)
  if (target === undefined) throw new Error('the container is not named')
  return containerResourceValue(selector, target, context.allocatable)
}

function named(name: string, { pod }: DownwardContext): Container {
  const found = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(
    (container) => container.name === name,
  )
  if (found === undefined) throw new Error(`container ${name} not found`)
  return found
}
