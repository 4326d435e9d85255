import {
  ApiError,
  type CsiDriver,
  claimNameOf,
  csiDrivers,
  driverOfVolume,
  notFound,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PersistentVolumeSpec,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  type Resource,
  type Volume,
} from '@coracle/api'
import type { Registries } from '../registries.ts'

/** What the volumes of a pod say of an audience. */
interface FoundAudience {
  /** Whether one of them holds a token for it, or its CSI driver gets one. */
  readonly isFound: boolean
  /** What is not there of what one has to know of the others, each once. */
  readonly problems: readonly string[]
}

/** Looks for an audience in the volumes of a pod, and in what is known of their CSI drivers (upstream's podReferencesAudience). */
export function findAudience(audience: string, pod: Pod, registries: Registries): FoundAudience {
  const problems = new Set<string>()
  for (const volume of pod.spec.volumes ?? []) {
    if (holdsTokenFor(audience, volume)) return { isFound: true, problems: [] }
    try {
      if (driverGetsTokenFor(audience, volume, pod, registries)) return { isFound: true, problems: [] }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      problems.add(error.message)
    }
  }
  return { isFound: false, problems: [...problems] }
}

/** A source without an audience is for the API server, as is a request without one. */
const holdsTokenFor = (audience: string, { projected }: Volume): boolean =>
  projected?.sources?.some(
    ({ serviceAccountToken: token }) => token !== undefined && (token.audience ?? '') === audience,
  ) ?? false

function driverGetsTokenFor(audience: string, volume: Volume, pod: Pod, registries: Registries): boolean {
  const claimName = claimNameOf(pod, volume)
  const driver = driverOfVolume(claimName === undefined ? volume : sourceOf(pod, claimName, registries))
  if (driver === undefined) return false
  const { spec } = required<CsiDriver>(registries, csiDrivers, 'csidriver', '', driver)
  return spec.tokenRequests?.some((request) => request.audience === audience) ?? false
}

/** The volume that a claim has. */
function sourceOf({ metadata }: Pod, claimName: string, registries: Registries): PersistentVolumeSpec {
  const namespace = metadata.namespace ?? ''
  const claim = required<PersistentVolumeClaim>(
    registries,
    persistentVolumeClaims,
    'persistentvolumeclaim',
    namespace,
    claimName,
  )
  const { volumeName = '' } = claim.spec ?? {}
  return required<PersistentVolume>(registries, persistentVolumes, 'persistentvolume', '', volumeName).spec ?? {}
}

/** An object; throws NotFound where there is none, which names the kind in the singular as upstream's listers do. */
function required<T>(registries: Registries, resource: Resource, singular: string, namespace: string, name: string): T {
  const found = registries.of(resource)?.peek(namespace, name)?.object
  if (found === undefined) throw notFound({ group: resource.group, plural: singular }, name)
  return found as T
}
