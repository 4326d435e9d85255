import type { Resource } from '@coracle/api'
import type { Client } from './client.ts'

/** A client whose calls go to the client that `choose` gives for their resource. */
export function routeClient(choose: (resource: Resource) => Client): Client {
  return {
    staysInProcess: (resource) => choose(resource).staysInProcess?.(resource) ?? false,
    get: (resource, ...rest) => choose(resource).get(resource, ...rest),
    list: (resource, ...rest) => choose(resource).list(resource, ...rest),
    watch: (resource, ...rest) => choose(resource).watch(resource, ...rest),
    create: (resource, ...rest) => choose(resource).create(resource, ...rest),
    update: (resource, ...rest) => choose(resource).update(resource, ...rest),
    createSubresource: (resource, ...rest) => choose(resource).createSubresource(resource, ...rest),
    stream: (resource, ...rest) => choose(resource).stream(resource, ...rest),
    patch: (resource, ...rest) => choose(resource).patch(resource, ...rest),
    apply: (resource, ...rest) => choose(resource).apply(resource, ...rest),
    delete: (resource, ...rest) => choose(resource).delete(resource, ...rest),
    deleteCollection: (resource, ...rest) => choose(resource).deleteCollection(resource, ...rest),
  }
}
