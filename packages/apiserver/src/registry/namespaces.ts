import type { KubernetesObject, Resource } from '@coracle/api'

type WithNamespaceFields = KubernetesObject & {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: Readonly<Record<string, unknown>>
}

/** Whether something other than metadata.finalizers keeps an object from going: the finalizers in a namespace's spec. */
export function isHeld(definition: Resource, object: KubernetesObject): boolean {
  if (!isNamespace(definition)) return false
  return ((object as WithNamespaceFields).spec?.finalizers ?? []).length > 0
}

export function isNamespace({ group, plural }: Resource): boolean {
  return group === '' && plural === 'namespaces'
}

/** A namespace whose end has begun. */
export function asTerminating(namespace: KubernetesObject): KubernetesObject {
  const { status } = namespace as WithNamespaceFields
  return { ...namespace, status: { ...status, phase: 'Terminating' } } as KubernetesObject
}
