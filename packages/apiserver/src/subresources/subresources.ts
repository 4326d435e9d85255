import type { Resource } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { NodeGateway } from '../node-gateway.ts'
import type { Registries } from '../registries.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { ServiceAccountTokens } from '../service-account-tokens/service-account-tokens.ts'
import { approvalSubresource } from './approval.ts'
import { bindingSubresource } from './binding.ts'
import { existingNodes } from './existing-nodes.ts'
import { finalizeSubresource } from './finalize.ts'
import { logSubresource } from './log.ts'
import { ephemeralContainersSubresource, resizeSubresource } from './pod-part.ts'
import { scaleSubresource } from './scale.ts'
import type { Connectable, Creatable, Proxied, Subresource } from './subresource.ts'
import { tokenSubresource } from './token.ts'

/** All subresources but `status`, by resource and name. */
export interface Subresources {
  get(resource: Resource, name: string): Subresource | undefined
}

/** What the kinds served have: `scale` where they say how, and what is special to pods and namespaces. */
export function createSubresources(
  registries: Registries,
  environment: Environment,
  nodes: NodeGateway | undefined,
  tokens: ServiceAccountTokens | undefined,
): Subresources {
  /** Made when somebody first asks, and gone with their registry. */
  const made = new WeakMap<ResourceRegistry, ReadonlyMap<string, Subresource>>()
  return {
    get(resource, name) {
      const registry = registries.of(resource)
      if (registry === undefined) return undefined
      let known = made.get(registry)
      if (known === undefined) {
        known = subresourcesOf(registry, registries, environment, nodes, tokens)
        made.set(registry, known)
      }
      return known.get(name)
    },
  }
}

function subresourcesOf(
  registry: ResourceRegistry,
  registries: Registries,
  environment: Environment,
  nodes: NodeGateway | undefined,
  tokens: ServiceAccountTokens | undefined,
): ReadonlyMap<string, Subresource> {
  const { group, plural, scale } = registry.definition
  const known = new Map<string, Subresource>()
  const proxy = () => environment.clock.hold(import('./proxy.ts'))
  if (scale !== undefined) known.set('scale', scaleSubresource(registry, scale))
  if (group === 'certificates.k8s.io' && plural === 'certificatesigningrequests') {
    known.set('approval', approvalSubresource(registry, environment))
  }
  if (group !== '') return known
  if (plural === 'pods') {
    known.set('binding', bindingSubresource(registry, environment))
    known.set(
      'eviction',
      creatable(async () => {
        const { evictionSubresource } = await environment.clock.hold(import('./eviction/eviction.ts'))
        return evictionSubresource(registry, registries, environment)
      }),
    )
    known.set('ephemeralcontainers', ephemeralContainersSubresource(registry))
    known.set('resize', resizeSubresource(registry))
    const existing = nodes === undefined ? undefined : existingNodes(registries, nodes)
    known.set('log', logSubresource(registry, existing))
    if (nodes !== undefined && existing !== undefined) {
      const connect = () => environment.clock.hold(import('./connect.ts'))
      known.set(
        'attach',
        connectable(async () => (await connect()).attachSubresource(registry, existing)),
      )
      known.set(
        'exec',
        connectable(async () => (await connect()).execSubresource(registry, existing)),
      )
      known.set(
        'portforward',
        connectable(async () => (await connect()).portForwardSubresource(registry, existing)),
      )
      known.set(
        'proxy',
        proxied(async () => (await proxy()).podProxySubresource(registry, nodes)),
      )
    }
  }
  if (plural === 'services' && nodes !== undefined) {
    known.set(
      'proxy',
      proxied(async () => (await proxy()).serviceProxySubresource(registry, registries, nodes)),
    )
  }
  if (plural === 'nodes' && nodes !== undefined) {
    known.set(
      'proxy',
      proxied(async () => (await proxy()).nodeProxySubresource(registry, nodes)),
    )
  }
  if (plural === 'serviceaccounts' && tokens !== undefined) {
    known.set('token', tokenSubresource(registry, registries, environment, tokens))
  }
  if (plural === 'namespaces') known.set('finalize', finalizeSubresource(registry))
  return known
}

/** Made with the first creation. */
function creatable(make: () => Promise<Creatable>): Creatable {
  let made: Creatable | undefined
  return {
    create: (...request) =>
      made?.create(...request) ??
      make().then((each) => {
        made = each
        return each.create(...request)
      }),
  }
}

/** Made with the first connection: most servers are asked for none, and start without the code for it. */
function connectable(make: () => Promise<Connectable>): Connectable {
  let made: Connectable | undefined
  return {
    async connect(...request) {
      made ??= await make()
      return made.connect(...request)
    },
  }
}

/** Made with the first request that goes on to another server. */
function proxied(make: () => Promise<Proxied>): Proxied {
  let made: Proxied | undefined
  return {
    async proxy(...request) {
      made ??= await make()
      return made.proxy(...request)
    },
  }
}
