import { configMaps, type OwnerReference, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { Authorizer } from '../request.ts'
import { configMap, pod, refusal, startTestCore } from '../testing/test-core.ts'

/** Who may do everything but this, and set finalizers of all there is. */
const unable: Readonly<Record<string, string>> = {
  'non-deleter': 'delete',
  'non-pod-deleter': 'delete pods',
  'non-finalizer': 'update replicationcontrollers/finalizers',
  'non-node-finalizer': 'update nodes/finalizers',
}

const authorizer: Authorizer = {
  refuse({ name: user }, attributes) {
    if (attributes.kind === 'path') return undefined
    const { verb, resource, subresource } = attributes
    const wanted = `${verb} ${resource.plural}${subresource === '' ? '' : `/${subresource}`}`
    if (wanted === 'update */finalizers') return user === 'finalizer-of-all' ? undefined : ''
    const denied = unable[user]
    return denied !== undefined && (denied === verb || denied === wanted) ? '' : undefined
  },
}

async function start(user: string) {
  const test = await startTestCore({ authorizer, enabledAdmission: ['OwnerReferencesPermissionEnforcement'] })
  const client = test.core.client({ name: user, groups: ['system:authenticated'] })
  const changeOwners = async (before: readonly OwnerReference[], after: readonly OwnerReference[]) => {
    const created = await test.client.create(pods, pod('a', { ownerReferences: before }))
    return client.update(pods, { ...created, metadata: { ...created.metadata, ownerReferences: after } })
  }
  return { ...test, client, changeOwners }
}

const owner = (name: string, changes: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  name,
  uid: name,
  ...changes,
})
const blocking = (name: string, changes: Partial<OwnerReference> = {}) =>
  owner(name, { blockOwnerDeletion: true, ...changes })

const cannotSet = `pods "a" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`
const cannotBlock = `pods "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`

describe('who may not delete an object', () => {
  it.each(['non-deleter', 'non-pod-deleter'])('may create it with owners: %s', async (user) => {
    const { client } = await start(user)
    await client.create(pods, pod('a', { ownerReferences: [owner('first')] }))
  })

  it.each<[OwnerReference[], OwnerReference[]]>([
    [[], [owner('first')]],
    [[owner('first')], []],
    [[owner('first')], [owner('first'), owner('second')]],
    [[owner('first')], [owner('first', { controller: true })]],
    [
      [owner('first'), owner('second')],
      [owner('second'), owner('first')],
    ],
  ])('may not change its owners from %j to %j', async (before, after) => {
    const { changeOwners } = await start('non-pod-deleter')
    expect(await refusal(changeOwners(before, after))).toEqual({ code: 403, reason: 'Forbidden', message: cannotSet })
  })

  it('may change all else, and owners of what it may delete', async () => {
    const { client, changeOwners } = await start('non-pod-deleter')
    await changeOwners([owner('first')], [owner('first')])
    await client.create(configMaps, configMap('a'))
    await client.update(configMaps, configMap('a', {}, { ownerReferences: [owner('first')] }))
  })

  it('may change its owners where nobody asks', async () => {
    const { core, client: admin } = await startTestCore({ authorizer })
    const created = await admin.create(pods, pod('a'))
    const metadata = { ...created.metadata, ownerReferences: [owner('first')] }
    await core.client({ name: 'non-deleter', groups: [] }).update(pods, { ...created, metadata })
  })
})

describe('who may not set finalizers of an owner', () => {
  it.each<[string, OwnerReference[]]>([
    ['non-finalizer', [blocking('first')]],
    ['non-finalizer', [owner('first'), blocking('second')]],
    ['non-node-finalizer', [blocking('first', { kind: 'Node' })]],
  ])('may not let a new object hold up its deletion: %s', async (user, ownerReferences) => {
    const { client } = await start(user)
    const message = (await refusal(client.create(pods, pod('a', { ownerReferences })))).message
    expect(message).toBe(cannotBlock)
  })

  it.each<[OwnerReference[], OwnerReference[]]>([
    [[], [blocking('first')]],
    [[owner('first')], [blocking('first')]],
    [[owner('first', { blockOwnerDeletion: false })], [blocking('first')]],
    [[blocking('first')], [blocking('first'), blocking('second')]],
  ])('may not change owners from %j to %j', async (before, after) => {
    const { changeOwners } = await start('non-finalizer')
    expect((await refusal(changeOwners(before, after))).message).toBe(cannotBlock)
  })

  it.each<[OwnerReference[], OwnerReference[]]>([
    [[], [owner('first')]],
    [[blocking('first')], [owner('first')]],
    [[blocking('first')], [blocking('first'), owner('second')]],
    [[blocking('first')], []],
  ])('may change owners from %j to %j', async (before, after) => {
    const { changeOwners } = await start('non-finalizer')
    await changeOwners(before, after)
  })
})

it('an owner of a kind that is not served can hold up nothing, but for who may set finalizers of all there is', async () => {
  const { client } = await start('anybody')
  const ownerReferences = [blocking('first', { apiVersion: 'shop.example/v1', kind: 'Basket' })]
  expect((await refusal(client.create(pods, pod('a', { ownerReferences })))).message).toBe(
    'pods "a" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion shop.example/v1 Kind Basket: no matches for kind "Basket" in version "shop.example/v1"',
  )
  const { client: able } = await start('finalizer-of-all')
  await able.create(pods, pod('a', { ownerReferences }))
})
