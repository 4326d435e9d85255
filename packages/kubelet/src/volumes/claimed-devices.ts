import { claimNamesOfPod, hasReason, isReservedFor, type Pod, type ResourceClaim, resourceClaims } from '@coracle/api'
import type { Client } from '@coracle/client'
import { VolumesNotReadyError } from './claimed-volumes.ts'

/**
 * Looks whether the devices of a pod's claims can be used. Where containers are not real that is so as soon as the claims are reserved for
 * the pod, as if a driver had prepared them. Where they are real no driver is there who could: rejects with a `VolumesNotReadyError`, in
 * the words of upstream's kubelet.
 */
export async function prepareDevices(
  pod: Pod,
  { client, isReal }: { readonly client: Client; readonly isReal: boolean },
): Promise<void> {
  for (const name of claimNamesOfPod(pod)) {
    const claim = await claimNamed(name, pod, client)
    if (!isReservedFor(claim, pod)) {
      const { name: podName, uid } = pod.metadata
      throw notPrepared(`pod ${podName}(${uid}) is not allowed to use ResourceClaim ${name}(${claim.metadata.uid})`)
    }
    const [result] = claim.status?.allocation?.devices?.results ?? []
    if (!isReal || result === undefined) continue
    throw notPrepared(
      `ResourceClaim ${name}: DRA driver ${result.driver} is not registered: nodes that run processes have no drivers of devices`,
    )
  }
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
