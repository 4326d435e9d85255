import { virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createInformerFactory } from './informer-factory.ts'
import { createFakeClient, type FakeClient } from './testing/fake-client.ts'
import { type Widget, widget, widgets } from './testing/resources.ts'

const environment = virtualEnvironment()
let client: FakeClient

beforeEach(() => {
  client = createFakeClient(environment)
})

const inNamespace = (namespace: string, name: string, more: Partial<Widget> = {}): Widget => {
  const object = widget(name, more)
  return { ...object, metadata: { ...object.metadata, namespace } }
}

const namesOf = (objects: readonly Widget[]) => objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)

describe('caches of some namespaces', () => {
  it('hold these and ask for no others', async () => {
    for (const namespace of ['a', 'b', 'c']) await client.create(widgets, inNamespace(namespace, 'x'))
    const factory = createInformerFactory(client, environment, () => ({ namespaces: ['a', 'c'] }))
    const informer = factory.informer(widgets)
    const told: string[] = []
    informer.addHandler({ add: (object) => told.push(...namesOf([object])) })
    informer.addIndex('name', ({ metadata }) => [metadata.name ?? ''])
    expect([informer.hasSynced, informer.resourceVersion]).toEqual([false, undefined])
    factory.start()
    await environment.clock.settle()
    expect(informer.hasSynced).toBe(true)
    expect(namesOf(informer.list())).toEqual(['a/x', 'c/x'])
    expect(namesOf(informer.list('c'))).toEqual(['c/x'])
    expect(informer.list('b')).toEqual([])
    expect([informer.count(), informer.count('c'), informer.count('b')]).toEqual([2, 1, 0])
    expect([informer.get('a/x')?.metadata.name, informer.get('b/x')]).toEqual(['x', undefined])
    expect(namesOf(informer.byIndex('name', 'x'))).toEqual(['a/x', 'c/x'])
    expect([informer.covers(inNamespace('a', 'y')), informer.covers(inNamespace('b', 'y'))]).toEqual([true, false])
    await client.create(widgets, inNamespace('b', 'y'))
    await client.create(widgets, inNamespace('c', 'y'))
    await environment.clock.settle()
    expect(told).toEqual(['a/x', 'c/x', 'c/y'])
    expect(client.calls.filter(({ verb }) => verb === 'list')).toHaveLength(2)
    expect(factory.informer(widgets)).toBe(informer)
    expect(factory.informersOf(widgets)).toHaveLength(2)
    await factory.stop()
  })

  it('have seen a deletion where its namespace has, and reached a version where all have', async () => {
    const made = await client.create(widgets, inNamespace('a', 'x'))
    const factory = createInformerFactory(client, environment, () => ({ namespaces: ['a', 'b'] }))
    const informer = factory.informer(widgets)
    factory.start()
    await environment.clock.settle()
    const { uid = '', resourceVersion = '' } = made.metadata
    const seen: string[] = []
    expect(informer.hasSeenDeletion('a/x', uid)).toBe(false)
    expect(informer.hasReached(resourceVersion)).toBe(true)
    informer.whenReached(resourceVersion, () => seen.push('reached'))
    informer.whenSeenDeletion('elsewhere/x', uid, () => seen.push('elsewhere'))
    informer.whenSeenDeletion('a/x', uid, () => seen.push('deleted'))
    expect(seen).toEqual(['reached', 'elsewhere'])
    await client.delete(widgets, { namespace: 'a', name: 'x' })
    await environment.clock.settle()
    expect(seen).toEqual(['reached', 'elsewhere', 'deleted'])
    await factory.stop()
  })
})

describe('caches with options of their resource', () => {
  it('hold what is selected, as far as nobody asks for something else', async () => {
    await client.create(widgets, widget('a', { metadata: { name: 'a', namespace: 'default', labels: { app: 'web' } } }))
    await client.create(widgets, widget('b'))
    const factory = createInformerFactory(client, environment, ({ plural }) =>
      plural === 'widgets' ? { labelSelector: 'app=web' } : undefined,
    )
    const selected = factory.informer(widgets)
    const all = factory.informer(widgets, { labelSelector: '' })
    factory.start()
    await environment.clock.settle()
    expect([selected.list().length, all.list().length]).toEqual([1, 2])
    await factory.stop()
  })

  it('hold objects as they are transformed, and nobody sees them otherwise', async () => {
    await client.create(widgets, widget('a', { spec: { size: 1 } }))
    const factory = createInformerFactory(client, environment, () => ({
      transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
    }))
    const informer = factory.informer(widgets)
    const told: Widget[] = []
    informer.addHandler({ add: (object) => told.push(object), update: (_, object) => told.push(object) })
    factory.start()
    await environment.clock.settle()
    await client.patch(widgets, { namespace: 'default', name: 'a' }, { type: 'merge', body: { spec: { size: 2 } } })
    await environment.clock.settle()
    expect(told.map(({ spec }) => spec)).toEqual([undefined, undefined])
    expect(informer.get('default/a')).not.toHaveProperty('spec')
    await factory.stop()
  })
})
