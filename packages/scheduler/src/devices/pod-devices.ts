import {
  canBeReserved,
  claimNameOfPod,
  isClaimOfPod,
  isReservedFor,
  type Node,
  type NodeSelector,
  nodeTermMatcher,
  type Pod,
  type ResourceClaim,
} from '@coracle/api'
import type { DeviceCache } from './device-cache.ts'

/** The claims of a pod: those that have their devices, and those that are to get them. */
export interface PodDevices {
  readonly allocated: readonly ResourceClaim[]
  readonly wanting: readonly ResourceClaim[]
}

/** The claims of a pod; a sentence where it has to wait for one of them, whatever its node; undefined where it has none. */
export function podDevices(pod: Pod, devices: DeviceCache): PodDevices | string | undefined {
  const { resourceClaims = [] } = pod.spec
  if (resourceClaims.length === 0) return undefined
  const { namespace, name: podName } = pod.metadata
  const found = new Map<string, ResourceClaim>()
  for (const each of resourceClaims) {
    const known = claimNameOfPod(pod, each)
    if (known === 'none') continue
    if (known === 'not-made') return `pod "${namespace}/${podName}": ResourceClaim not created yet`
    const claim = devices.claim(namespace, known.name)
    if (claim === undefined) return `could not find ResourceClaim "${namespace}/${known.name}"`
    const problem = problemOf(claim, pod, known.mustBeOwned, devices)
    if (problem !== undefined) return problem
    found.set(known.name, claim)
  }
  const claims = [...found.values()]
  const allocated = claims.filter(({ status }) => status?.allocation !== undefined)
  const wanting = claims.filter(({ status }) => status?.allocation === undefined)
  return (
    wanting.map((claim) => requestProblem(claim, devices)).find((each) => each !== undefined) ?? { allocated, wanting }
  )
}

function problemOf(claim: ResourceClaim, pod: Pod, mustBeOwned: boolean, devices: DeviceCache): string | undefined {
  const { namespace, name } = claim.metadata
  if (claim.metadata.deletionTimestamp !== undefined) return `resourceclaim ${JSON.stringify(name)} is being deleted`
  if (mustBeOwned && !isClaimOfPod(claim, pod)) {
    return `ResourceClaim ${namespace}/${name} was not created for pod ${pod.metadata.namespace}/${pod.metadata.name} (pod is not owner)`
  }
  if (claim.status?.allocation === undefined) {
    return devices.isPending(claim)
      ? `resource claim ${namespace}/${name} is in the process of being allocated`
      : undefined
  }
  return canBeReserved(claim) || isReservedFor(claim, pod) ? undefined : 'resourceclaim in use'
}

/** Why no devices are looked for: what is asked for is of no class that is there, or in no way that is known here. */
function requestProblem({ metadata, spec }: ResourceClaim, devices: DeviceCache): string | undefined {
  for (const { name, exactly, firstAvailable = [] } of spec.devices?.requests ?? []) {
    if (exactly === undefined && firstAvailable.length === 0) {
      return `resource claim ${metadata.namespace}/${metadata.name}, request ${name}: unknown request type`
    }
    const asked =
      exactly === undefined
        ? firstAvailable.map((each) => [`${name}/${each.name}`, each] as const)
        : [[name, exactly] as const]
    for (const [request, { deviceClassName }] of asked) {
      if (devices.deviceClass(deviceClassName) !== undefined) continue
      return `request ${request}: device class ${deviceClassName} does not exist`
    }
  }
  return undefined
}

/** Whether the devices of a claim can be used on the node. */
export function isAvailableOn({ status }: ResourceClaim, node: Node): boolean {
  const selector: NodeSelector | undefined = status?.allocation?.nodeSelector
  return selector === undefined || selector.nodeSelectorTerms.some((term) => nodeTermMatcher(term)(node))
}
