import type { KubernetesObject, Resource } from '@coracle/api'
import { CliError } from '../cli-error.ts'

/** Where objects go that name no namespace. */
export interface Placement {
  readonly namespace: string
  /** The namespace the flag names: objects may not name another. */
  readonly givenNamespace: string | undefined
}

/** The object with its namespace filled in, or without one where the kind has none. Throws a CliError on a contradiction. */
export function placeObject(
  object: KubernetesObject,
  resource: Pick<Resource, 'namespaced'>,
  placement: Placement,
): KubernetesObject {
  const { namespaced } = resource
  const { namespace } = placement
  const own = object.metadata.namespace
  if (!namespaced) {
    const { namespace: _, ...metadata } = object.metadata
    return own === undefined ? object : { ...object, metadata }
  }
  if (own === undefined || own === '') return { ...object, metadata: { ...object.metadata, namespace } }
  requireNamespace(object, resource, placement)
  return object
}

/** Throws a CliError where an object that has a namespace is in another than the flag names. */
export function requireNamespace(
  { metadata: { namespace } }: KubernetesObject,
  { namespaced }: Pick<Resource, 'namespaced'>,
  { givenNamespace }: Placement,
): void {
  if (!namespaced || !namespace || givenNamespace === undefined || namespace === givenNamespace) return
  throw new CliError(
    `the namespace from the provided object "${namespace}" does not match the namespace "${givenNamespace}". You must pass '--namespace=${namespace}' to perform this operation.`,
  )
}
