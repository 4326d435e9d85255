import type { Resource } from '@coracle/api'

/** How messages call a kind: `pod`, `deployment.apps`. */
export function kindText({ kind, group }: Pick<Resource, 'kind' | 'group'>): string {
  return group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`
}

/** How messages call an object: `pod/web`, `deployment.apps/web`; one without a name, such as a review, is `<unknown>`. */
export function objectText(resource: Pick<Resource, 'kind' | 'group'>, name = ''): string {
  return `${kindText(resource)}/${name === '' ? '<unknown>' : name}`
}
