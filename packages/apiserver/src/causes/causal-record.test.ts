import { configMaps, limitRanges, pods, secrets } from '@coracle/api'
import { createMemoryStore } from '@coracle/store/memory'
import { beforeEach, describe, expect, it } from 'vitest'
import { causeExpiryIntervalMs, causesAgeMaxMs } from '../housekeeping/cause-expiry.ts'
import type { User } from '../request.ts'
import { configMap, pod, refusal, startTestCore, type TestCore } from '../testing/test-core.ts'
import { type CausesQuery, causesPageMax, notesScannedMax } from './causal-record.ts'

const jane: User = { name: 'jane', groups: ['system:authenticated'] }
const replicator: User = { name: 'system:serviceaccount:kube-system:replication-controller', groups: [] }
const operator: User = { name: 'system:serviceaccount:default:my-operator', groups: [] }
const reader: User = { name: 'reader', groups: [] }
const key = { namespace: 'default', name: 'a' }

describe('the causal record', () => {
  let test: TestCore
  let first: number

  beforeEach(async () => {
    test = await startTestCore({
      authorizer: {
        refuse: ({ name }, attributes) =>
          name === 'reader' && attributes.kind === 'resource' && attributes.resource.plural === 'secrets'
            ? ''
            : undefined,
      },
    })
    first = (await test.store.latest()) as number
  })

  const list = async (query: CausesQuery = {}, user: User = reader) => {
    const { causes } = await (await test.core.causes()).list(user, query)
    return causes.filter(({ revision }) => revision > first)
  }

  it('says who asked for what, when, and how', async () => {
    const created = await test.core.client(jane).create(configMaps, configMap('a'), { fieldManager: 'tool' })
    await test.environment.clock.advance('5s')
    const body = { data: { x: '1' } }
    await test.core.client(jane).patch(configMaps, key, { type: 'merge', body }, { because: 'x is wanted' })
    await test.core.client(jane).delete(configMaps, key)
    const { uid } = created.metadata
    const change = { group: '', resource: 'configmaps', kind: 'ConfigMap', namespace: 'default', name: 'a', uid }
    const cause = { apiVersion: 'coracle.dev/v1', kind: 'Cause', user: 'jane' }
    const userAgent = 'jane/in-process'
    const at = (revision: number, creationTimestamp: string) => ({
      metadata: { name: String(first + revision), creationTimestamp },
      revision: first + revision,
    })
    expect(await list()).toEqual([
      {
        ...cause,
        ...at(3, '2026-01-01T00:00:05Z'),
        changes: [{ operation: 'delete', ...change }],
        request: { verb: 'delete', userAgent },
      },
      {
        ...cause,
        ...at(2, '2026-01-01T00:00:05Z'),
        changes: [{ operation: 'update', ...change }],
        request: { verb: 'update', userAgent },
        because: 'x is wanted',
        claimed: true,
      },
      {
        ...cause,
        ...at(1, '2026-01-01T00:00:00Z'),
        changes: [{ operation: 'create', ...change }],
        request: { verb: 'create', fieldManager: 'tool', userAgent },
      },
    ])
  })

  it('says once why a pod is gone that was marked before', async () => {
    const client = test.core.client(jane)
    await client.create(pods, pod('a'))
    await client.delete(pods, key, { because: 'it is not needed' })
    const changes = (await list({ resource: 'pods' })).map((each) => [each.changes[0]?.operation, each.because])
    expect(changes).toEqual([
      ['delete', 'it is not needed'],
      ['create', undefined],
    ])
  })

  it('says which reconcile made a change, and takes the word of components for it only', async () => {
    const object = { apiVersion: 'v1', kind: 'ReplicationController', namespace: 'default', name: 'web' }
    const reconcile = { controller: 'replication', object, seen: [first, first + 1, first + 7] }
    const claim = { because: '0 of 1 replicas exist', reconcile }
    await test.core.client(replicator).create(pods, pod('a'), claim)
    await test.core.client(operator).create(pods, pod('b'), claim)
    // What a reconcile had seen is earlier than what it did, whatever it says.
    expect(await list()).toMatchObject([
      {
        because: claim.because,
        reconcile: { ...reconcile, seen: [first, first + 1] },
        user: operator.name,
        claimed: true,
      },
      { because: claim.because, reconcile: { ...reconcile, seen: [first] }, user: replicator.name },
    ])
    expect((await list({ name: 'a' }))[0]?.claimed).toBeUndefined()
  })

  it('names what admission has changed', async () => {
    await test.client.create(limitRanges, {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'memory', namespace: 'default' },
      spec: { limits: [{ type: 'Container', default: { memory: '1Gi' } }] },
    } as never)
    await test.client.create(pods, pod('a'))
    const [{ admission = [] } = {}] = await list({ resource: 'pods' })
    expect(admission).toContain('LimitRanger')
  })

  it('tells of all that one transaction changed, and of what was done through a subresource', async () => {
    await test.client.create(pods, pod('a', {}, { nodeName: 'n1' }))
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }
    await test.client.createSubresource(pods, key, 'eviction', eviction, { because: 'the node is drained' })
    expect(await list({ resource: 'pods', limit: 1 })).toMatchObject([
      { request: { verb: 'delete', subresource: 'eviction' }, because: 'the node is drained' },
    ])
  })

  it('has nothing of writes that changed nothing, were refused or only tried', async () => {
    const created = await test.client.create(configMaps, configMap('a'))
    await test.client.update(configMaps, created)
    await test.client.create(configMaps, configMap('b'), { dryRun: true })
    await test.client.create(configMaps, configMap('a')).catch(() => {})
    expect(await list()).toHaveLength(1)
  })

  it('shows nobody what they may not get', async () => {
    await test.client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'default' },
    })
    expect([(await list()).length, (await list({}, jane)).length]).toEqual([0, 1])
    const causes = await test.core.causes()
    expect(await refusal(causes.get(reader, first + 1))).toMatchObject({ code: 404, reason: 'NotFound' })
    expect((await causes.get(jane, first + 1)).revision).toBe(first + 1)
  })

  it('is asked by object, by revision, and page by page', async () => {
    for (const name of ['a', 'b', 'c']) await test.client.create(configMaps, configMap(name))
    await test.client.create(pods, pod('a'))
    const names = async (query: CausesQuery) => (await list(query)).map(({ changes: [change] }) => change?.name)
    expect(await names({ group: '', resource: 'configmaps' })).toEqual(['c', 'b', 'a'])
    expect(await names({ name: 'a' })).toEqual(['a', 'a'])
    expect(await names({ namespace: 'other' })).toEqual([])
    expect(await names({ group: '', after: first + 2 })).toEqual(['a', 'c'])
    expect(await names({ uid: (await test.client.get(configMaps, { ...key, name: 'b' })).metadata.uid ?? '' })).toEqual(
      ['b'],
    )
    expect(await names({ revisions: [first + 2, first + 4, first + 900] })).toEqual(['a', 'b'])
    const page = await (await test.core.causes()).list(reader, { resource: 'configmaps', limit: 2 })
    expect(page).toMatchObject({ causes: [{}, {}], before: first + 2 })
    expect(await names({ resource: 'configmaps', limit: 2, before: first + 2 })).toEqual(['a'])
  })

  it('gives no more than a page, and looks at no more notes than it may', async () => {
    const note = (name: string) =>
      Buffer.from(
        JSON.stringify({ t: 0, user: 'u', verb: 'create', did: [['create', `core/configmaps/default/${name}`, 'x']] }),
      )
    const store = createMemoryStore({ notesMax: 100_000 })
    for (let count = 0; count < notesScannedMax + 100; count += 1) {
      await store.commit({ conditions: [], operations: [{ type: 'put', key: 'k', value: note('b') }], note: note('b') })
    }
    const { core } = await startTestCore({ store })
    const all = await (await core.causes()).list(jane, { name: 'b', limit: 1_000_000 })
    expect(all.causes).toHaveLength(causesPageMax)
    const none = await (await core.causes()).list(jane, { name: 'a' })
    expect(none.causes).toEqual([])
    expect(none.before).toBeGreaterThan(1)
  })

  it('forgets causes that are old, and keeps the others', async () => {
    await test.client.create(configMaps, configMap('a'))
    await test.environment.clock.advance(causesAgeMaxMs / 2)
    await test.client.create(configMaps, configMap('b'))
    await test.environment.clock.advance(causesAgeMaxMs / 2 - causeExpiryIntervalMs)
    expect(await list({ resource: 'configmaps' })).toHaveLength(2)
    await test.environment.clock.advance(2 * causeExpiryIntervalMs)
    expect(await list({ resource: 'configmaps' })).toMatchObject([{ changes: [{ name: 'b' }] }])
  })

  it('tells a test of writes by components that do not say why', async () => {
    const told: string[] = []
    const { core } = await startTestCore({ onUnexplained: (user, what) => told.push(`${user}: ${what}`) })
    told.length = 0
    await core.client(replicator).create(pods, pod('a'))
    await core.client(replicator).create(pods, pod('b'), { because: 'one is missing' })
    await core.client(jane).create(pods, pod('c'))
    expect(told).toEqual([`${replicator.name}: create core/pods/default/a`])
  })
})
