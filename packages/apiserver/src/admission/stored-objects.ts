import type { KubernetesObject, Resource } from '@coracle/api'
import type { Registries } from '../registries.ts'
import { unfilteredSelection } from '../watch-cache/selection.ts'
import type { AdmissionTarget } from './admission.ts'

/** What this server knows to be stored of a resource, without waiting: in one namespace, or all of it. */
export function storedObjects<T extends KubernetesObject>(
  registries: Registries,
  resource: Resource<T>,
  namespace = '',
): readonly T[] {
  const cache = registries.of(resource)?.storage.cache
  // Most clusters have few of what admission asks for, and it asks at each pod.
  if (cache === undefined || cache.size === 0) return []
  const { items } = cache.slice(unfilteredSelection(namespace), { limit: 0, afterKey: '' })
  return items.map(({ object }) => object as T)
}

/** The object of that name, as far as this server knows; undefined where there is none. */
export function storedObject<T extends KubernetesObject>(
  registries: Registries,
  resource: Resource<T>,
  name: string,
  namespace = '',
): T | undefined {
  return registries.of(resource)?.peek(namespace, name)?.object as T | undefined
}

/** Whether an object of this resource is created, not one of its subresources. */
export function creates({ operation, definition, subresource }: AdmissionTarget, { group, plural }: Resource): boolean {
  return operation === 'CREATE' && subresource === '' && definition.plural === plural && definition.group === group
}

/** Whether the resources of a pod are changed. */
export const resizesPod = ({ operation, definition, subresource }: AdmissionTarget): boolean =>
  operation === 'UPDATE' && subresource === 'resize' && definition.plural === 'pods' && definition.group === ''

/** Whether an object of this resource is changed, not one of its subresources. */
export function updates({ operation, definition, subresource }: AdmissionTarget, { group, plural }: Resource): boolean {
  return operation === 'UPDATE' && subresource === '' && definition.plural === plural && definition.group === group
}
