import type { KubernetesObject, Resource } from '@coracle/api'

/** How messages call a kind: `pod`, `deployment.apps`. */
export function kindText({ kind, group }: Pick<Resource, 'kind' | 'group'>): string {
  return group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`
}

/** What an object is, which is another kind than its resource's where it is a subresource: the Scale of a Deployment. */
export function kindOf(
  resource: Pick<Resource, 'kind' | 'group'>,
  { apiVersion, kind }: Partial<KubernetesObject>,
): Pick<Resource, 'kind' | 'group'> {
  if (apiVersion === undefined || kind === undefined || kind === resource.kind) return resource
  return { kind, group: apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '' }
}

/** How messages call an object: `pod/web`, `deployment.apps/web`; one without a name, such as a review, is `<unknown>`. */
export function objectText(resource: Pick<Resource, 'kind' | 'group'>, name = ''): string {
  return `${kindText(resource)}/${name === '' ? '<unknown>' : name}`
}
