import type { ConfigMap, KeyToPath, Pod, Secret, Volume } from '@coracle/api'
import type { EnvironmentSources } from '../env/environment-variables.ts'
import { VolumesNotReadyError } from './claimed-volumes.ts'

/** A ConfigMap or Secret whose keys become files of a volume. */
interface KeyedSource {
  readonly kind: 'configmap' | 'secret'
  readonly name?: string | undefined
  /** Absent: all its keys. */
  readonly items?: readonly KeyToPath[] | undefined
  readonly optional?: boolean | undefined
}

/** Whether volumes of a pod show ConfigMaps or Secrets. */
export const hasKeyedSources = ({ spec }: Pod): boolean =>
  spec.volumes?.some(({ configMap, secret, projected }) => (configMap ?? secret ?? projected) !== undefined) === true

/**
 * Looks for what the volumes of a pod show of ConfigMaps and Secrets. Rejects with a `VolumesNotReadyError`, in the words of upstream's
 * kubelet, where one of them or a key that a volume names is missing and not optional: until it is there no container starts.
 */
export async function findKeyedSources(
  pod: Pod,
  sources: Pick<EnvironmentSources, 'configMap' | 'secret'>,
): Promise<void> {
  for (const volume of pod.spec.volumes ?? []) {
    const found = await Promise.all(keyedSources(volume).map((source) => problemOf(pod, source, sources)))
    const problems = found.filter((problem) => problem !== undefined)
    if (problems.length === 0) continue
    const [first = ''] = problems
    const told = problems.length === 1 ? first : `[${[...new Set(problems)].join(', ')}]`
    throw new VolumesNotReadyError(`MountVolume.SetUp failed for volume ${JSON.stringify(volume.name)} : ${told}`)
  }
}

function keyedSources({ configMap, secret, projected }: Volume): readonly KeyedSource[] {
  if (configMap !== undefined) return [{ ...configMap, kind: 'configmap' }]
  if (secret !== undefined) return [{ ...secret, kind: 'secret', name: secret.secretName }]
  return (projected?.sources ?? []).flatMap((each): readonly KeyedSource[] => [
    ...(each.configMap === undefined ? [] : [{ ...each.configMap, kind: 'configmap' } as const]),
    ...(each.secret === undefined ? [] : [{ ...each.secret, kind: 'secret' } as const]),
  ])
}

async function problemOf(
  { metadata: { namespace = '' } }: Pod,
  { kind, name = '', items = [], optional = false }: KeyedSource,
  sources: Pick<EnvironmentSources, 'configMap' | 'secret'>,
): Promise<string | undefined> {
  if (optional) return undefined
  const found = kind === 'secret' ? await sources.secret(namespace, name) : await sources.configMap(namespace, name)
  if (found === undefined) return `${kind} ${JSON.stringify(name)} not found`
  const missing = items.find(({ key }) => !hasKey(found, key))
  if (missing === undefined) return undefined
  return kind === 'secret'
    ? `references non-existent secret key: ${missing.key}`
    : `configmap references non-existent config key: ${missing.key}`
}

const hasKey = (found: ConfigMap | Secret, key: string): boolean =>
  found.data?.[key] !== undefined || ('binaryData' in found && found.binaryData?.[key] !== undefined)
