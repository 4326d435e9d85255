import { type CustomResourceDefinition, customResourceDefinitions } from '@coracle/api'
import type { Client } from '@coracle/client'

/** A definition of `example.com` crates with these versions, v1 alone unless said otherwise. */
export function crateDefinition(
  versions: readonly object[] = [crateVersion('v1', { storage: true })],
  more: object = {},
): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'crates.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'crates', kind: 'Crate', shortNames: ['cr'] },
      versions,
      ...more,
    },
  } as CustomResourceDefinition
}

/** A version whose objects have a `spec` of texts and numbers. */
export function crateVersion(name: string, more: object = {}): object {
  const text = { type: 'string' }
  const spec = { type: 'object', properties: { label: text, weight: { type: 'integer', minimum: 1 } } }
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec, status: { type: 'object', properties: { state: text } } },
  }
  return { name, served: true, storage: false, schema: { openAPIV3Schema }, ...more }
}

/** A version with a schema unlike that of any other: only such versions may have fields of their own that selectors may name. */
export function crateVersionOfItsOwn(name: string, more: object = {}): object {
  const { schema, ...rest } = crateVersion(name, more) as { readonly schema: { readonly openAPIV3Schema: object } }
  return { ...rest, schema: { openAPIV3Schema: { ...schema.openAPIV3Schema, description: `Crates of ${name}.` } } }
}

/** Does what the controller of definitions does: accepts the names and establishes the kind. */
export async function establish(
  client: Client,
  definition: CustomResourceDefinition,
): Promise<CustomResourceDefinition> {
  const name = definition.metadata.name ?? ''
  const created = await client.create(customResourceDefinitions, definition)
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))
  const status = { ...created.status, acceptedNames: created.spec.names, conditions }
  return client.patch(
    customResourceDefinitions,
    { name },
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  )
}
