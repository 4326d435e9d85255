import { claimNamesOfPod, hasReason, isReservedFor, type Pod, type ResourceClaim, resourceClaims } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { ClaimedDevices } from '../devices/claimed-devices.ts'
import { VolumesNotReadyError } from './claimed-volumes.ts'

export interface DeviceParts {
  readonly client: Client
  /** Whether containers are real, and their devices have to be. */
  readonly isReal: boolean
  /** Has drivers prepare them. Absent: the node has no drivers. */
  readonly claimedDevices?: ClaimedDevices
}

/**
 * Has the devices of a pod's claims prepared. Where containers are not real they are as soon as the claims are reserved for the pod. Rejects
 * with a `VolumesNotReadyError`, in the words of upstream's kubelet, where they cannot be used yet.
 */
export async function prepareDevices(pod: Pod, { client, isReal, claimedDevices }: DeviceParts): Promise<void> {
  const claims: ResourceClaim[] = []
  for (const name of claimNamesOfPod(pod)) {
    const claim = await claimNamed(name, pod, client)
    if (!isReservedFor(claim, pod)) {
      const { name: podName, uid } = pod.metadata
      throw notPrepared(`pod ${podName}(${uid}) is not allowed to use ResourceClaim ${name}(${claim.metadata.uid})`)
    }
    claims.push(claim)
    const [result] = claim.status?.allocation?.devices?.results ?? []
    if (!isReal || claimedDevices !== undefined || result === undefined) continue
    throw notPrepared(
      `ResourceClaim ${name}: DRA driver ${result.driver} is not registered: nodes that run processes have no drivers of devices`,
    )
  }
  await claimedDevices?.prepare(pod, claims).catch((error: Error) => {
    throw notPrepared(error.message)
  })
}

async function claimNamed(name: string, { metadata: { namespace = '' } }: Pod, client: Client): Promise<ResourceClaim> {
  try {
    return await client.get(resourceClaims, { namespace, name })
  } catch (error) {
    // Until the server knows that the pod is the node's, the node may not see its claims.
    if (!hasReason(error, 'NotFound') && !hasReason(error, 'Forbidden')) throw error
    throw notPrepared(`failed to fetch ResourceClaim ${name} referenced by pod: ${(error as Error).message}`)
  }
}

const notPrepared = (why: string): VolumesNotReadyError =>
  new VolumesNotReadyError(
    `Failed to prepare dynamic resources: prepare dynamic resources: ${why}`,
    'FailedPrepareDynamicResources',
  )
