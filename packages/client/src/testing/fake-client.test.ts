import { type ConfigMap, configMaps, type Pod, pods } from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createFakeClient, type FakeClient } from './fake-client.ts'

let environment: VirtualEnvironment
let client: FakeClient

beforeEach(() => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
})

const settings = (data: ConfigMap['data']) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'settings' }, data }) as const
const key = { namespace: 'default', name: 'settings' }
const dataOf = async () => (await client.get(configMaps, key)).data

describe('server-side apply', () => {
  it('creates what is not there, and changes what is there', async () => {
    const created = await client.apply(configMaps, settings({ a: '1' }), { fieldManager: 'me' })
    expect(created.metadata).toMatchObject({ name: 'settings', generation: 1, uid: expect.any(String) })
    const changed = await client.apply(configMaps, settings({ a: '2' }), { fieldManager: 'me' })
    expect(changed.data).toEqual({ a: '2' })
    expect(changed.metadata.uid).toBe(created.metadata.uid)
    expect(client.calls.map(({ verb }) => verb)).toEqual(['apply', 'apply'])
  })

  it('writes nothing where nothing changes', async () => {
    const { metadata } = await client.apply(configMaps, settings({ a: '1' }), { fieldManager: 'me' })
    environment.clock.advance('1h')
    const again = await client.apply(configMaps, settings({ a: '1' }), { fieldManager: 'me' })
    expect(again.metadata).toEqual(metadata)
  })

  it('removes what its manager applied before, and leaves what others own', async () => {
    await client.apply(configMaps, settings({ a: '1', b: '1' }), { fieldManager: 'me' })
    await client.apply(configMaps, settings({ c: '1' }), { fieldManager: 'you' })
    await client.apply(configMaps, settings({ a: '1' }), { fieldManager: 'me' })
    expect(await dataOf()).toEqual({ a: '1', c: '1' })
  })

  it('is refused what others own, by their names, and takes it with force', async () => {
    await client.apply(configMaps, settings({ a: '1' }), { fieldManager: 'me' })
    const asked = client.apply(configMaps, settings({ a: '2' }), { fieldManager: 'you' })
    await expect(asked).rejects.toThrow('Apply failed with 1 conflict: conflict with "me": .data.a')
    expect(await dataOf()).toEqual({ a: '1' })
    await client.apply(configMaps, settings({ a: '2' }), { fieldManager: 'you', force: true })
    expect(await dataOf()).toEqual({ a: '2' })
  })

  it('sees what updates have taken since the first apply', async () => {
    const applied = await client.apply(configMaps, settings({ a: '1' }), { fieldManager: 'me' })
    await client.update(configMaps, { ...applied, data: { a: '3' } }, { fieldManager: 'editor' })
    const asked = client.apply(configMaps, settings({ a: '1' }), { fieldManager: 'me' })
    await expect(asked).rejects.toThrow('conflict with "editor" using v1: .data.a')
  })

  it('merges the lists of built-in kinds by their keys', async () => {
    const pod = (name: string) =>
      ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace: 'default', name: 'p' },
        spec: { containers: [{ name, image: 'i' }] },
      }) as const
    await client.apply<Pod>(pods, pod('a'), { fieldManager: 'me' })
    const { spec } = await client.apply<Pod>(pods, pod('b'), { fieldManager: 'you' })
    expect(spec.containers.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('goes through the status where it is asked to, of objects that are there', async () => {
    const status = { phase: 'Running' } as const
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name: 'p' }, status } as const
    const through = { fieldManager: 'agent', subresource: 'status' }
    await expect(client.apply<Pod>(pods, pod, through)).rejects.toMatchObject({ reason: 'NotFound' })
    await client.create(pods, { ...pod, spec: { containers: [] } })
    const applied = await client.apply<Pod>(pods, pod, through)
    expect(applied.status).toEqual(status)
    expect(applied.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'agent', operation: 'Apply', subresource: 'status' }),
    )
  })

  it('is for one version of the object, where the configuration names one', async () => {
    await client.apply(configMaps, settings({ a: '1' }), { fieldManager: 'me' })
    const { metadata } = settings({})
    const stale = { ...settings({ a: '2' }), metadata: { ...metadata, resourceVersion: '99' } }
    await expect(client.apply(configMaps, stale, { fieldManager: 'me' })).rejects.toMatchObject({ reason: 'Conflict' })
    const other = { ...settings({ a: '2' }), metadata: { ...metadata, uid: 'other' } }
    await expect(client.apply(configMaps, other, { fieldManager: 'me' })).rejects.toMatchObject({ reason: 'Conflict' })
    expect(await dataOf()).toEqual({ a: '1' })
  })

  it('changes nothing in a dry run', async () => {
    const applied = await client.apply(configMaps, settings({ a: '1' }), { fieldManager: 'me', dryRun: true })
    expect(applied.data).toEqual({ a: '1' })
    expect(client.stored(configMaps)).toEqual([])
  })

  it('needs a name, and a manager', async () => {
    const nameless = { ...settings({}), metadata: { namespace: 'default' } }
    await expect(client.apply(configMaps, nameless, { fieldManager: 'me' })).rejects.toThrow(
      'metadata.name is required',
    )
    await expect(client.apply(configMaps, settings({}), { fieldManager: '' })).rejects.toThrow('field manager')
  })
})
