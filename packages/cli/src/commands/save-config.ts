import type { KubernetesObject } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'

/**
 * An object made from flags as it is created: with `--save-config` it has itself in the annotation of what was last applied, as text of the Go
 * type that kubectl holds.
 */
export async function withSavedConfig(
  resource: DiscoveredResource,
  object: KubernetesObject,
  { saveConfig }: { readonly saveConfig?: boolean },
): Promise<KubernetesObject> {
  if (saveConfig !== true) return object
  const { inDeclaredOrder } = await import('../output/declared-order.ts')
  const { withLastApplied } = await import('../manifests/apply-object.ts')
  return withLastApplied(object, ({ metadata: { annotations, ...metadata }, ...rest }) =>
    inDeclaredOrder(resource, {
      ...rest,
      metadata: Object.keys(annotations ?? {}).length === 0 ? metadata : { ...metadata, annotations },
    }),
  )
}
