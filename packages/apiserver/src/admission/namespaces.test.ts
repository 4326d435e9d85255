import { configMaps, namespaces } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { configMap, refusal, startTestCore } from '../testing/test-core.ts'

const absent = { code: 404, reason: 'NotFound', message: 'namespaces "team" not found' }
const inTeam = configMap('a', {}, { namespace: 'team' })

describe('NamespaceAutoProvision', () => {
  const start = () => startTestCore({ enabledAdmission: ['NamespaceAutoProvision'] })

  it('makes the namespace that something is created in', async () => {
    const { client } = await start()
    await Promise.all(['a', 'b'].map((name) => client.create(configMaps, configMap(name, {}, { namespace: 'team' }))))
    expect((await client.get(namespaces, { name: 'team' })).status?.phase).toBe('Active')
  })

  it('makes none where nothing is created', async () => {
    const { client } = await start()
    const key = { namespace: 'team', name: 'a' }
    expect((await refusal(client.get(configMaps, key))).code).toBe(404)
    expect((await refusal(client.delete(configMaps, key))).code).toBe(404)
    expect(await refusal(client.create(configMaps, inTeam, { dryRun: true }))).toEqual(absent)
    expect(await refusal(client.get(namespaces, { name: 'team' }))).toEqual(absent)
  })

  it('cannot make one by a name that none can have', async () => {
    const { client } = await start()
    const { code, message } = await refusal(client.create(configMaps, configMap('a', {}, { namespace: 'No' })))
    expect([code, message]).toEqual([
      403,
      expect.stringContaining('configmaps "a" is forbidden: Namespace "No" is invalid'),
    ])
  })
})

describe('NamespaceLifecycle', () => {
  it('lets nothing change in a namespace that is not there, and lets it go', async () => {
    const { client: careless, store } = await startTestCore({ disabledAdmission: ['NamespaceLifecycle'] })
    await careless.create(configMaps, inTeam)
    const { client } = await startTestCore({ store })
    const key = { namespace: 'team', name: 'a' }
    const patch = { type: 'merge', body: { data: { a: 'b' } } } as const
    expect(await refusal(client.update(configMaps, inTeam))).toEqual(absent)
    expect(await refusal(client.patch(configMaps, key, patch))).toEqual(absent)
    expect((await refusal(client.update(configMaps, { ...inTeam, metadata: { ...key, name: 'b' } }))).code).toBe(404)
    await client.delete(configMaps, key)
  })

  it('has things changed in a namespace that is ending, and none created', async () => {
    const { client } = await startTestCore()
    await client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team' },
      spec: { finalizers: ['kubernetes'] },
    })
    await client.create(configMaps, inTeam)
    await client.delete(namespaces, { name: 'team' })
    const changed = await client.update(configMaps, configMap('a', { a: 'b' }, { namespace: 'team' }))
    expect(changed.data).toEqual({ a: 'b' })
    const refused = await refusal(client.create(configMaps, configMap('b', {}, { namespace: 'team' })))
    expect([refused.code, refused.message]).toEqual([403, expect.stringContaining('is being terminated')])
  })
})

describe('NamespaceExists', () => {
  it('lets nothing change or go in a namespace that is not there', async () => {
    const { client: careless, store } = await startTestCore({ disabledAdmission: ['NamespaceLifecycle'] })
    await careless.create(configMaps, inTeam)
    const { client } = await startTestCore({ store, enabledAdmission: ['NamespaceExists'] })
    const key = { namespace: 'team', name: 'a' }
    expect(await refusal(client.create(configMaps, configMap('b', {}, { namespace: 'team' })))).toEqual(absent)
    expect(await refusal(client.update(configMaps, inTeam))).toEqual(absent)
    expect(await refusal(client.delete(configMaps, key))).toEqual(absent)
  })
})
