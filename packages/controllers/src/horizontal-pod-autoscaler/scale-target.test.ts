import { deployments, type HorizontalPodAutoscaler, nodes, type Resource, replicationControllers } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, vi } from 'vitest'
import { findScaleTarget } from './scale-target.ts'

describe('what an autoscaler scales', () => {
  const find = (apiVersion: string | undefined, kind: string, signal = new AbortController().signal) => {
    const client = createFakeClient(virtualEnvironment())
    const scaleTargetRef = { ...(apiVersion === undefined ? {} : { apiVersion }), kind, name: 'web' }
    const autoscaler = {
      metadata: { namespace: 'default', name: 'a' },
      spec: { scaleTargetRef },
    } as HorizontalPodAutoscaler
    const resources = () => [replicationControllers, deployments, nodes]
    return { client, found: () => findScaleTarget(autoscaler, { client, resources, signal }) }
  }

  it.each<readonly [string | undefined, string, Resource]>([
    ['apps/v1', 'Deployment', deployments],
    ['apps/v1beta1', 'Deployment', deployments],
    ['v1', 'ReplicationController', replicationControllers],
    [undefined, 'ReplicationController', replicationControllers],
  ])('in version %s, a %s, is found by its group and kind', async (apiVersion, kind, resource) => {
    const { client, found } = find(apiVersion, kind)
    const web = { apiVersion: 'v1', kind, metadata: { namespace: 'default', name: 'web' }, spec: { replicas: 2 } }
    await client.create(resource, web)
    const get = vi.spyOn(client, 'get')
    expect(await found()).toMatchObject({ resource, scale: { spec: { replicas: 2 } } })
    const key = { namespace: 'default', name: 'web' }
    expect(get).toHaveBeenCalledWith(resource, key, expect.objectContaining({ subresource: 'scale' }))
  })

  it('may be in no namespace', async () => {
    const { client, found } = find('v1', 'Node')
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'web' } })
    expect(await found()).toMatchObject({ resource: nodes })
  })

  it.each([
    ['apps/v1/v2', 'Deployment', 'unexpected GroupVersion string: apps/v1/v2'],
    ['apps/v1', 'Moon', 'no matches for kind "Moon" in group "apps"'],
    ['v1', 'Deployment', 'no matches for kind "Deployment" in group ""'],
    ['apps/v1', 'Deployment', 'deployments.apps "web" not found'],
  ])('in version %s, a %s, may not be there: %s', async (apiVersion, kind, error) => {
    expect(await find(apiVersion, kind).found()).toEqual({ error })
  })

  it('is not told to be away where the controller stops', async () => {
    const stopping = new AbortController()
    stopping.abort(new Error('stopping'))
    await expect(find('apps/v1', 'Deployment', stopping.signal).found()).rejects.toThrow('stopping')
  })
})
