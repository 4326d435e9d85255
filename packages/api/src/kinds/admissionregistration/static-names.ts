import type { KubernetesObject } from '../../meta.ts'

const reservedSuffix = '.static.k8s.io'

/** Names of this end are for what a server reads from files (https://kep.k8s.io/5793); upstream warns, and refuses none unless asked to. */
export function staticNameWarnings({ metadata: { name = '' } }: KubernetesObject): readonly string[] {
  return name.endsWith(reservedSuffix)
    ? [
        `metadata.name: names ending with "${reservedSuffix}" are reserved for static manifest-based configurations and cannot be managed via the API`,
      ]
    : []
}
