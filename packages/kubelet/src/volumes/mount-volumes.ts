import { claimsOfPod, type Pod } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { EnvironmentSources } from '../env/environment-variables.ts'
import { type MountedVolumes, mountClaims } from './claimed-volumes.ts'
import { findKeyedSources, hasKeyedSources } from './keyed-sources.ts'

/** Whether a pod has volumes that something else in the API has to be there for. */
export const waitsForVolumes = (pod: Pod): boolean =>
  pod.spec.volumes !== undefined && (claimsOfPod(pod).length > 0 || hasKeyedSources(pod))

/**
 * Brings the volumes of a pod to its node, as far as that can be done: `mountClaims`, and what `findKeyedSources` looks for. Rejects with a
 * `VolumesNotReadyError` while something is missing.
 */
export async function mountVolumes(
  pod: Pod,
  client: Client,
  sources: EnvironmentSources,
  isReal: boolean,
): Promise<MountedVolumes> {
  const mounted = await mountClaims(pod, client, isReal)
  await findKeyedSources(pod, sources)
  return mounted
}
