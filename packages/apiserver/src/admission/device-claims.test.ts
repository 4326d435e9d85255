import {
  type Namespace,
  namespaces,
  type ResourceClaim,
  type ResourceClaimTemplate,
  type ResourceSlice,
  resourceClaims,
  resourceClaimTemplates,
  resourceSlices,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { RequestAttributes } from '../request.ts'
import { refusal, startTestCore } from '../testing/test-core.ts'

const apiVersion = 'resource.k8s.io/v1'
const request = (adminAccess?: true) => ({ name: 'gpu', exactly: { deviceClassName: 'gpu', adminAccess } })
const claim = (namespace: string, adminAccess?: true): ResourceClaim => ({
  apiVersion,
  kind: 'ResourceClaim',
  metadata: { name: 'c', namespace },
  spec: { devices: { requests: [request(adminAccess)] } },
})
const admin: Namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'admin', labels: { 'resource.kubernetes.io/admin-access': 'true' } },
}
const why =
  'admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace'

describe('access to devices that others use', () => {
  it('is given to claims and templates of namespaces that a label allows it', async () => {
    const { client } = await startTestCore()
    await client.create(namespaces, admin)
    await client.create(resourceClaims, claim('default'))
    await client.create(resourceClaims, claim('admin', true))
    expect(await refusal(client.create(resourceClaims, claim('default', true)))).toMatchObject({
      code: 422,
      message: expect.stringContaining(`spec.devices.requests[0].adminAccess: Forbidden: ${why}`),
    })
    const template: ResourceClaimTemplate = {
      apiVersion,
      kind: 'ResourceClaimTemplate',
      metadata: { name: 't', namespace: 'default' },
      spec: { spec: claim('default', true).spec },
    }
    expect(await refusal(client.create(resourceClaimTemplates, template))).toMatchObject({ code: 422 })
  })

  it('is not given by way of the status either', async () => {
    const { client } = await startTestCore()
    const key = { namespace: 'default', name: 'c' }
    await client.create(resourceClaims, claim('default'))
    const result = { request: 'gpu', driver: 'd.example.com', pool: 'p', device: 'd' }
    const patch = (adminAccess: boolean) => ({
      type: 'merge' as const,
      body: { status: { allocation: { devices: { results: [{ ...result, adminAccess }] } } } },
    })
    const refused = await refusal(client.patch(resourceClaims, key, patch(true), { subresource: 'status' }))
    expect(refused).toMatchObject({
      code: 422,
      message: expect.stringContaining(`status.allocation.devices.results[0].adminAccess: Forbidden: ${why}`),
    })
    await client.patch(resourceClaims, key, patch(false), { subresource: 'status' })
  })
})

describe('who gets devices', () => {
  it('is said by whoever may bind claims', async () => {
    const asked: string[] = []
    const refuse = (attributes: RequestAttributes): string | undefined => {
      if (attributes.kind === 'path' || attributes.subresource !== 'binding') return undefined
      asked.push(`${attributes.verb} ${attributes.resource.plural}/${attributes.subresource}`)
      return ''
    }
    const { client } = await startTestCore({ authorizer: { refuse: (_user, attributes) => refuse(attributes) } })
    const key = { namespace: 'default', name: 'c' }
    await client.create(resourceClaims, claim('default'))
    const body = { status: { allocation: {}, reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] } }
    const patch = client.patch(resourceClaims, key, { type: 'merge', body }, { subresource: 'status' })
    expect(await refusal(patch)).toMatchObject({
      code: 403,
      message: expect.stringContaining('resourceclaims/binding'),
    })
    expect(asked).toEqual(['update resourceclaims/binding'])
    await client.patch(resourceClaims, key, { type: 'merge', body: { status: {} } }, { subresource: 'status' })
    expect(asked).toHaveLength(1)
  })
})

describe('a node', () => {
  const slice = (nodeName: string): ResourceSlice => ({
    apiVersion,
    kind: 'ResourceSlice',
    metadata: { name: `of-${nodeName}` },
    spec: { driver: 'd.example.com', nodeName, pool: { name: nodeName, generation: 1, resourceSliceCount: 1 } },
  })

  it('offers its own devices, and sees no others', async () => {
    const { core, client } = await startTestCore({ authorizer: 'default' })
    await client.create(resourceSlices, slice('n2'))
    const agent = core.client({ name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] })
    await agent.create(resourceSlices, slice('n1'))
    expect(await refusal(agent.create(resourceSlices, { ...slice('n2'), metadata: { name: 'x' } }))).toMatchObject({
      message: expect.stringContaining('can only create ResourceSlice with the same NodeName as the requesting node'),
    })
    expect(await refusal(agent.delete(resourceSlices, { name: 'of-n2' }))).toMatchObject({ code: 403 })
    expect(await refusal(agent.list(resourceSlices))).toMatchObject({ code: 403 })
    const { items } = await agent.list(resourceSlices, { fieldSelector: 'spec.nodeName=n1' })
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['of-n1'])
    await agent.delete(resourceSlices, { name: 'of-n1' })
  })
})
