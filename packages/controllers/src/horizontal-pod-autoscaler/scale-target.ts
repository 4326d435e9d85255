import type { HorizontalPodAutoscaler, Resource, Scale } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { ScaleTarget } from './plan.ts'

/** Finds what an autoscaler scales: any kind that is served and has a scale, in whatever version. */
export async function findScaleTarget(
  { metadata, spec }: HorizontalPodAutoscaler,
  { client, resources, signal }: { client: Client; resources: () => readonly Resource[]; signal: AbortSignal },
): Promise<ScaleTarget | { readonly error: string }> {
  const { apiVersion = '', kind, name } = spec.scaleTargetRef
  const group = groupOf(apiVersion)
  if (group === undefined) return { error: `unexpected GroupVersion string: ${apiVersion}` }
  const resource = resources().find((each) => each.group === group && each.kind === kind)
  if (resource === undefined) {
    return { error: `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}` }
  }
  try {
    const key = resource.namespaced ? { namespace: metadata.namespace ?? '', name } : { name }
    const scale = await client.get(resource, key, { subresource: 'scale', signal })
    return { resource, scale: scale as Scale }
  } catch (error) {
    signal.throwIfAborted()
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** The group of an `apiVersion`; undefined where it has not the form of one. */
function groupOf(apiVersion: string): string | undefined {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return undefined
  return parts.length === 2 ? parts[0] : ''
}
