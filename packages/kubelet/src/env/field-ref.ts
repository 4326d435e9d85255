import { type Container, type Pod, parseQuantity, type ResourceFieldSelector } from '@coracle/api'

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
  const subscripted = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path)
  if (subscripted !== null)
    return pod.metadata[subscripted[1] as 'labels' | 'annotations']?.[subscripted[2] ?? ''] ?? ''
  switch (path) {
    case 'metadata.name':
      return pod.metadata.name ?? ''
    case 'metadata.namespace':
      return pod.metadata.namespace ?? ''
    case 'metadata.uid':
      return pod.metadata.uid ?? ''
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
 * The value of a container's resource in units of the selector's divisor, rounded up. A limit that is not set is what
 * the node has to offer. Throws where the resource is none of those the downward API knows.
 */
export function resourceValue(selector: ResourceFieldSelector, container: Container, context: DownwardContext): string {
  const match = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(selector.resource)
  if (match === null) throw new Error(`unsupported container resource : ${selector.resource}`)
  const [, kind = '', name = ''] = match
  const target =
    selector.containerName === undefined || selector.containerName === ''
      ? container
      : named(selector.containerName, context)
  const amount =
    target.resources?.[kind as 'limits' | 'requests']?.[name] ??
    (kind === 'limits' ? context.allocatable[name] : undefined)
  const divisor = parseQuantity(
    selector.divisor === undefined || selector.divisor === '0' ? '1' : selector.divisor,
  ).nanos
  const { nanos } = parseQuantity(amount ?? '0')
  return String((nanos + divisor - 1n) / divisor)
}

function named(name: string, { pod }: DownwardContext): Container {
  const found = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(
    (container) => container.name === name,
  )
  if (found === undefined) throw new Error(`container ${name} not found`)
  return found
}
