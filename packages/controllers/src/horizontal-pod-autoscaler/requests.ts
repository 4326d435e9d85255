import { type Container, isSidecar, type Pod, podRequests, quantityMilli } from '@coracle/api'

/** Thousandths of a resource that each pod requests, by name; a text where one of them does not say. */
export type Requests = ReadonlyMap<string, number> | { readonly error: string }

/** What pods request of a resource: all their containers, or the one of that name where there is a name. */
export function requestsOf(pods: readonly Pod[], resource: string, container: string): Requests {
  const requests = new Map<string, number>()
  for (const pod of pods) {
    const request = requestOf(pod, resource, container)
    if (typeof request === 'string') return { error: request }
    requests.set(pod.metadata.name ?? '', request)
  }
  return requests
}

/** What the pod as a whole requests counts before what its containers do, where no container is named (KEP-2837). */
function requestOf(pod: Pod, resource: string, container: string): number | string {
  const { name = '' } = pod.metadata
  if (container === '' && Object.keys(pod.spec.resources?.requests ?? {}).length > 0) {
    const request = podRequests(pod.spec).get(resource)
    return request === undefined ? `missing pod-level request for ${resource} in Pod ${name}` : quantityMilli(request)
  }
  const counted = runningContainers(pod).filter((each) => container === '' || each.name === container)
  if (container !== '' && counted.length === 0) return `container ${container} not found in Pod ${name}`
  let sum = 0
  for (const each of counted) {
    const request = each.resources?.requests?.[resource]
    if (request === undefined) return `missing request for ${resource} in container ${each.name} of Pod ${name}`
    sum += quantityMilli(request)
  }
  return sum
}

/** The containers that run as long as the pod does. */
const runningContainers = ({ spec }: Pod): readonly Container[] => [
  ...spec.containers,
  ...(spec.initContainers ?? []).filter(isSidecar),
]
