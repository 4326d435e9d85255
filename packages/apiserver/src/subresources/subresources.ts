import type { Resource } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { NodeGateway } from '../node-gateway.ts'
import type { Registries } from '../registries.ts'
import { bindingSubresource } from './binding.ts'
import { finalizeSubresource } from './finalize.ts'
import { logSubresource } from './log.ts'
import { scaleSubresource } from './scale.ts'
import type { Subresource } from './subresource.ts'

/** All subresources but `status`, by resource and name. */
export interface Subresources {
  get(resource: Resource, name: string): Subresource | undefined
}

/** What the kinds served have: `scale` where they say how, and what is special to pods and namespaces. */
export function createSubresources(
  registries: Registries,
  environment: Environment,
  nodes: NodeGateway | undefined,
): Subresources {
  const known = new Map<string, Subresource>()
  for (const registry of registries.all()) {
    const { definition } = registry
    const add = (name: string, subresource: Subresource) => known.set(slot(definition, name), subresource)
    if (definition.scale !== undefined) add('scale', scaleSubresource(registry, definition.scale))
    if (definition.group !== '') continue
    if (definition.plural === 'pods') add('binding', bindingSubresource(registry, environment))
    if (definition.plural === 'pods') add('log', logSubresource(registry, nodes))
    if (definition.plural === 'namespaces') add('finalize', finalizeSubresource(registry))
  }
  return { get: (resource, name) => known.get(slot(resource, name)) }
}

const slot = ({ group, version, plural }: Resource, name: string): string => `${group}/${version}/${plural}/${name}`
