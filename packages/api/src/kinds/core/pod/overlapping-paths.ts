/** Files of volumes that come to lie on or in each other (api/pod warningsForOverlappingVirtualPaths). */
import { trimRight } from '../../../go-text.ts'
import { ofPairs } from './pairs.ts'
import type { VolumeProjection } from './projection.ts'
import type { Volume } from './volume.ts'

interface Source {
  readonly path: string
  /** Where the file is from, for a volume that has several sources. */
  readonly from: string
}

/** Warns of each pair of files that a volume would have at the same place, or one below the other. */
export function overlappingPathWarnings(volumes: readonly Volume[]): readonly string[] {
  return volumes.flatMap((volume) => {
    const { name, configMap, secret, downwardAPI, projected } = volume
    const warn = (of: string, sources: readonly Source[]) =>
      overlapsOf(sources).map((overlap) => `volume "${name}" (${of}): overlapping paths: ${overlap}`)
    const { sources = [] } = projected ?? {}
    const empty = sources.filter((source) => Object.keys(source).length === 0)
    return [
      ...warn(`ConfigMap "${configMap?.name ?? ''}"`, pathsOf(configMap?.items)),
      ...warn(`Secret "${secret?.secretName ?? ''}"`, pathsOf(secret?.items)),
      ...warn('DownwardAPI', pathsOf(downwardAPI?.items)),
      ...empty.map(() => `volume "${name}" (Projected) has no sources provided`),
      ...warn('Projected', sources.flatMap(projectedPaths)),
    ]
  })
}

const pathsOf = (items: readonly { readonly path?: string }[] = [], from = ''): readonly Source[] =>
  items.map(({ path = '' }) => ({ path, from }))

function projectedPaths(projection: VolumeProjection): readonly Source[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection
  if (configMap?.items !== undefined) return pathsOf(configMap.items, `ConfigMap "${configMap.name ?? ''}"`)
  if (secret?.items !== undefined) return pathsOf(secret.items, `Secret "${secret.name ?? ''}"`)
  if (downwardAPI?.items !== undefined) return pathsOf(downwardAPI.items, 'DownwardAPI')
  if (serviceAccountToken !== undefined) return pathsOf([serviceAccountToken], 'ServiceAccountToken')
  if (clusterTrustBundle !== undefined) {
    const { name, signerName = '', path } = clusterTrustBundle
    return pathsOf([{ path }], `ClusterTrustBundle "${name ?? signerName}"`)
  }
  const { certificateChainPath = '', keyPath = '', credentialBundlePath = '' } = podCertificate ?? {}
  const certificate = [
    { path: certificateChainPath, from: 'PodCertificate chain' },
    { path: keyPath, from: 'PodCertificate key' },
    { path: credentialBundlePath, from: 'PodCertificate credential bundle' },
  ]
  return certificate.filter(({ path }) => path !== '')
}

function overlapsOf(sources: readonly Source[]): readonly string[] {
  const trimmed = sources.map(({ path, from }) => ({ path: trimRight(path, '/'), from }))
  return ofPairs(trimmed, (source, earlier) =>
    overlap(earlier.path, source.path) ? `${shown(source)} with ${shown(earlier)}` : undefined,
  )
}

const overlap = (a: string, b: string): boolean =>
  a !== '' && b !== '' && (`${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`))

const shown = ({ path, from }: Source): string => (from === '' ? `"${path}"` : `"${path}" (${from})`)
