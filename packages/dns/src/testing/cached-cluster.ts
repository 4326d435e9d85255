import {
  type EndpointSlice,
  endpointSlices,
  type KubernetesObject,
  namespaces,
  type Service,
  services,
} from '@coracle/api'
import { createInformer } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { type ClusterCaches, serviceIndexes, sliceIndexes, viewOf } from '../zone/cluster-view.ts'
import type { Zone } from '../zone/cluster-zone.ts'

/** A zone over caches of what a client has. */
export interface CachedCluster {
  readonly environment: VirtualEnvironment
  readonly client: FakeClient
  readonly caches: ClusterCaches
  readonly zone: Zone
}

const resources = { Namespace: namespaces, Service: services, EndpointSlice: endpointSlices } as const

/** `cluster.local` with these namespaces, services and slices. */
export async function cachedCluster(objects: readonly KubernetesObject[]): Promise<CachedCluster> {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  for (const object of objects) {
    const resource = resources[object.kind as keyof typeof resources]
    await client.create<KubernetesObject>(resource as typeof namespaces, object)
  }
  const caches = {
    services: createInformer<Service>(client, services, { indexes: serviceIndexes }, environment),
    slices: createInformer<EndpointSlice>(client, endpointSlices, { indexes: sliceIndexes }, environment),
    namespaces: createInformer(client, namespaces, {}, environment),
  }
  for (const informer of Object.values(caches)) informer.start()
  await environment.clock.settle()
  const zone = { domain: 'cluster.local', view: viewOf(caches), serverAddresses: () => ['10.96.0.10'] }
  return { environment, client, caches, zone }
}
