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

describe('the status of a claim', () => {
  const key = { namespace: 'default', name: 'c' }
  const driver = 'd.example.com'
  const binding = {
    allocation: {
      nodeSelector: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: ['n1'] }] }],
      },
      devices: { results: ['a', 'b'].map((device) => ({ request: 'gpu', driver, pool: 'p', device })) },
    },
    reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }],
  }
  const device = (name: string, data?: object) => ({ driver, pool: 'p', device: name, ...(data && { data }) })
  const account = (node?: string) => ({
    name: 'system:serviceaccount:kube-system:driver',
    groups: [],
    ...(node === undefined ? {} : { extra: { 'authentication.kubernetes.io/node-name': [node] } }),
  })

  /** Allows the user `driver` what is in `rights`; notes what is asked of subresources that there are not. */
  async function start(rights: readonly string[]) {
    const asked: string[] = []
    const refuse = (user: string, attributes: RequestAttributes): string | undefined => {
      if (attributes.kind === 'path' || user !== account().name) return undefined
      const { verb, subresource, namespace, name } = attributes
      if (subresource !== 'binding' && subresource !== 'driver') return undefined
      const question = [verb, subresource, namespace, name].join(' ').trim()
      asked.push(question)
      return rights.includes(question) ? undefined : ''
    }
    const { core, client } = await startTestCore({
      authorizer: { refuse: ({ name }, attributes) => refuse(name, attributes) },
    })
    await client.create(resourceClaims, claim('default'))
    const write = (status: object, user = account()) =>
      core.client(user).patch(resourceClaims, key, { type: 'merge', body: { status } }, { subresource: 'status' })
    const bind = () =>
      client.patch(resourceClaims, key, { type: 'merge', body: { status: binding } }, { subresource: 'status' })
    return { core, client, asked, write, bind }
  }

  it('says who gets devices to whoever may bind claims', async () => {
    const { asked, write } = await start([])
    expect(await refusal(write(binding))).toMatchObject({
      code: 422,
      message:
        'ResourceClaim.resource.k8s.io "c" is invalid: status: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: User "system:serviceaccount:kube-system:driver" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope',
    })
    expect(asked).toEqual(['patch binding'])
    await write({})
    expect(asked).toHaveLength(1)
  })

  it('is asked about as the update or the patch that it is', async () => {
    const { core, asked } = await start(['update binding'])
    const user = core.client(account())
    const before = await user.get(resourceClaims, key)
    await user.update(resourceClaims, { ...before, status: binding }, { subresource: 'status' })
    expect(asked).toEqual(['update binding'])
  })

  it('says how devices are by who may speak for their driver, on its node or on any', async () => {
    const { asked, write, bind } = await start(['associated-node:patch driver default d.example.com'])
    await bind()
    await write({ devices: [device('a')] }, account('n1'))
    const refused = await refusal(write({ devices: [device('a', { x: 1 })] }, account('n2')))
    expect(refused).toMatchObject({
      code: 422,
      message:
        'ResourceClaim.resource.k8s.io "c" is invalid: status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "d.example.com" is forbidden: User "system:serviceaccount:kube-system:driver" cannot arbitrary-node:patch resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "default"',
    })
    expect(asked.at(-1)).toBe('arbitrary-node:patch driver default d.example.com')
    expect(await refusal(write({ devices: null }, account()))).toMatchObject({ code: 422 })
    // What stays as it is needs no right.
    await write({ devices: [device('a')] }, account('n2'))
    await write({ devices: null }, account('n1'))
  })

  it('is written by who may speak for a driver everywhere', async () => {
    const { client, write, bind } = await start(['arbitrary-node:patch driver default d.example.com'])
    await bind()
    await write({ devices: [device('a')] })
    await write({ devices: [device('a'), device('b')] }, account('n1'))
    expect((await client.get(resourceClaims, key)).status?.devices).toHaveLength(2)
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
