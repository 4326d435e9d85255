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
import type { RequestAttributes, User } from '../request.ts'
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
  it('is said by whoever may bind claims, all of them', async () => {
    const asked: RequestAttributes[] = []
    const refuse = (attributes: RequestAttributes): string | undefined => {
      if (attributes.kind === 'path' || attributes.subresource !== 'binding') return undefined
      asked.push(attributes)
      return ''
    }
    const { client } = await startTestCore({ authorizer: { refuse: (_user, attributes) => refuse(attributes) } })
    const key = { namespace: 'default', name: 'c' }
    await client.create(resourceClaims, claim('default'))
    const body = { status: { allocation: {}, reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] } }
    const patch = client.patch(resourceClaims, key, { type: 'merge', body }, { subresource: 'status' })
    expect(await refusal(patch)).toMatchObject({
      code: 422,
      message:
        'ResourceClaim.resource.k8s.io "c" is invalid: status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: User "system:apiserver" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope',
    })
    expect(asked).toMatchObject([{ verb: 'patch', namespace: '', name: '' }])
    await client.patch(resourceClaims, key, { type: 'merge', body: { status: {} } }, { subresource: 'status' })
    expect(asked).toHaveLength(1)
  })

  it('is told with all else that is wrong with the claim', async () => {
    const refuse = (attributes: RequestAttributes): string | undefined =>
      attributes.kind === 'resource' && attributes.subresource === 'binding' ? '' : undefined
    const { client } = await startTestCore({ authorizer: { refuse: (_user, attributes) => refuse(attributes) } })
    const key = { namespace: 'default', name: 'c' }
    await client.create(resourceClaims, claim('default'))
    const result = { request: 'gpu', driver: 'd.example.com', pool: 'p', device: 'd', adminAccess: true }
    const body = { status: { allocation: { devices: { results: [{ ...result, device: '' }] } } } }
    const refused = await refusal(client.patch(resourceClaims, key, { type: 'merge', body }, { subresource: 'status' }))
    const problems = [
      `status.allocation.devices.results[0].adminAccess: Forbidden: ${why}`,
      'status.allocation: Forbidden: changing status.allocation or status.reservedFor requires',
      'status.allocation.devices.results[0].device: Invalid value: ""',
    ]
    expect(refused.code).toBe(422)
    const places = problems.map((problem) => refused.message.indexOf(problem))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    const { spec } = claim('default', true)
    const wrong = {
      ...claim('default'),
      spec: { devices: { requests: [{ ...spec.devices?.requests?.[0], name: '' }] } },
    }
    const { message } = await refusal(client.create(resourceClaims, wrong as ResourceClaim))
    expect(message).toContain(
      `spec.devices.requests[0].adminAccess: Forbidden: ${why}, spec.devices.requests[0].name: `,
    )
  })

  it('is asked about as the update or the patch that it is', async () => {
    const asked: string[] = []
    const refuse = (attributes: RequestAttributes): undefined => {
      if (attributes.kind === 'resource' && attributes.subresource === 'binding') asked.push(attributes.verb)
    }
    const { client } = await startTestCore({ authorizer: { refuse: (_user, attributes) => refuse(attributes) } })
    const before = await client.create(resourceClaims, claim('default'))
    const after = { ...before, status: { allocation: {} } }
    await client.update(resourceClaims, after, { subresource: 'status' })
    expect(asked).toEqual(['update'])
  })
})

describe('how devices are', () => {
  const key = { namespace: 'default', name: 'c' }
  const results = ['a', 'b'].map((driver) => ({
    request: 'gpu',
    driver: `${driver}.example.com`,
    pool: 'p',
    device: 'd',
  }))
  const nodeSelector = {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
  }
  const told = (driver: string, data?: object) => ({ driver: `${driver}.example.com`, pool: 'p', device: 'd', data })
  const extra = { 'authentication.kubernetes.io/node-name': ['n1'] }
  const account = 'system:serviceaccount:default:driver'

  /** A claim with devices of two drivers on a node, and what is asked about somebody who may do no more than `allowed`. */
  async function setUp(user: Partial<User>, allowed: readonly string[]) {
    const asked: string[] = []
    const refuse = ({ name }: User, attributes: RequestAttributes): string | undefined => {
      if (name === 'system:apiserver' || attributes.kind === 'path' || attributes.subresource !== 'driver')
        return undefined
      const question = `${attributes.verb} ${attributes.namespace}/${attributes.name}`
      asked.push(question)
      return allowed.includes(question) ? undefined : ''
    }
    const { core, client } = await startTestCore({ authorizer: { refuse } })
    await client.create(resourceClaims, claim('default'))
    const body = { status: { allocation: { devices: { results }, nodeSelector } } }
    await client.patch(resourceClaims, key, { type: 'merge', body }, { subresource: 'status' })
    const driver = core.client({ name: account, groups: [], ...user })
    const tell = (status: object) =>
      driver.patch(resourceClaims, key, { type: 'merge', body: { status } }, { subresource: 'status' })
    return { asked, client, tell }
  }

  it('is told by whoever may do so for the driver, on its own node or on any', async () => {
    const own = ['a', 'b'].map((driver) => `associated-node:patch default/${driver}.example.com`)
    const { asked, tell } = await setUp({ extra }, own)
    await tell({ devices: [told('a'), told('b')] })
    expect(asked).toEqual(own)
    await tell({ devices: [told('a'), told('b', { x: 1 })] })
    expect(asked.slice(2)).toEqual(own.slice(1))
    const anywhere = await setUp({ extra }, ['arbitrary-node:patch default/a.example.com'])
    await anywhere.tell({ devices: [told('a')] })
    expect(anywhere.asked).toEqual([own[0], 'arbitrary-node:patch default/a.example.com'])
  })

  it.each<[string, Partial<User>]>([
    ['elsewhere', { extra: { 'authentication.kubernetes.io/node-name': ['n2'] } }],
    ['nowhere', {}],
    ['as no service account', { name: 'somebody', extra }],
  ])('is not told by who is %s for the node of the devices', async (_where, user) => {
    const { asked, tell } = await setUp(user, ['associated-node:patch default/a.example.com'])
    const name = user.name ?? account
    expect(await refusal(tell({ devices: [told('a')] }))).toMatchObject({
      code: 422,
      message: `ResourceClaim.resource.k8s.io "c" is invalid: status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "a.example.com" is forbidden: User "${name}" cannot arbitrary-node:patch resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "default"`,
    })
    expect(asked).toEqual(['arbitrary-node:patch default/a.example.com'])
  })

  it('is of no matter when nothing is allocated any more', async () => {
    const { asked, client, tell } = await setUp({}, [])
    const body = { status: { devices: [told('a')] } }
    await client.patch(resourceClaims, key, { type: 'merge', body }, { subresource: 'status' })
    expect(await refusal(tell({ devices: null }))).toMatchObject({ code: 422 })
    await tell({ allocation: null, devices: null })
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
