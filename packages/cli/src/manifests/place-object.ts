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
  { namespaced }: Pick<Resource, 'namespaced'>,
  { namespace, givenNamespace }: Placement,
): KubernetesObject {
  const own = object.metadata.namespace
  if (!namespaced) {
    const { namespace: _, ...metadata } = object.metadata
    return own === undefined ? object : { ...object, metadata }
  }
  if (own === undefined || own === '') return { ...object, metadata: { ...object.metadata, namespace } }
  if (givenNamespace !== undefined && own !== givenNamespace) {
    throw new CliError(
      `the namespace from the provided object "${own}" does not match the namespace "${givenNamespace}". You must pass '--namespace=${own}' to perform this operation.`,
    )
  }
  return object
}
