import type { Endpoints } from '@coracle/api'

/** Whose slices these are, by their label. */
export const managedBy = 'endpointslicemirroring-controller.k8s.io'

const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror'
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'

/**
 * Whether Endpoints are to have slices made of them: not those that say otherwise, or that only hold a lock of a leader
 * election.
 */
export function isMirrored({ metadata }: Endpoints): boolean {
  return metadata.labels?.[skipMirrorLabel] !== 'true' && metadata.annotations?.[leaderAnnotation] === undefined
}
