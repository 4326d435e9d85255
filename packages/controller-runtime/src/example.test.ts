import type { KubernetesObject, Resource } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { controller, controllerRef, createManager, isBeingDeleted, type Plan, performPlan } from './index.ts'

interface WebsiteStatus {
  readonly ready: boolean
}

interface Website extends KubernetesObject {
  readonly status?: WebsiteStatus
}

interface Deployment extends KubernetesObject {
  readonly spec: { readonly replicas: number }
}

const websites: Resource<Website> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  plural: 'websites',
  namespaced: true,
}
const deploymentResource: Resource<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
}

const deploymentOf = (site: Website): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    namespace: site.metadata.namespace ?? '',
    name: site.metadata.name ?? '',
    ownerReferences: [controllerRef(site)],
  },
  spec: { replicas: 1 },
})

it('a controller with a plan keeps a deployment for each website', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  await client.create(websites, {
    apiVersion: 'example.com/v1',
    kind: 'Website',
    metadata: { namespace: 'default', name: 'shop' },
  })
  const manager = createManager({ client, environment, leaderElection: { namespace: 'default', name: 'website' } })
  manager.add(website)
  await Promise.all([manager.start(), environment.clock.settle()])
  expect(client.stored(deploymentResource)).toMatchObject([{ metadata: { name: 'shop' } }])
  expect(client.stored(websites)[0]?.status).toEqual({ ready: true })
  await client.delete(deploymentResource, { namespace: 'default', name: 'shop' })
  await environment.clock.settle()
  expect(client.stored(deploymentResource)).toHaveLength(1)
  await manager.stop()
})

function planWebsite(site: Website, deployments: readonly Deployment[]): Plan<WebsiteStatus> {
  if (deployments.length > 0) return { actions: [], status: { ready: true } }
  const because = 'a site needs a deployment'
  return { actions: [{ type: 'create', resource: deploymentResource, object: deploymentOf(site), because }] }
}

const website = controller('website')
  .for(websites)
  .owns(deploymentResource)
  .reconcile(async ({ object }, context) => {
    if (object === undefined || isBeingDeleted(object)) return
    return performPlan(context, object, planWebsite(object, context.owned(deploymentResource)))
  })
