import type { KubernetesObject, ObjectMeta } from '@coracle/api'

/** The objects that another controls, of those its selector finds. */
export function controlledBy<T extends KubernetesObject>(
  owner: { readonly metadata: Pick<ObjectMeta, 'uid'> },
  objects: readonly T[],
): readonly T[] {
  return objects.filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === owner.metadata.uid),
  )
}
