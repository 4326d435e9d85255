import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { createInformerFactory } from './informer-factory.ts'
import { createFakeClient } from './testing/fake-client.ts'
import { type Widget, widget, widgets } from './testing/resources.ts'

describe('informer factory', () => {
  it('shares one informer and one watch among all who ask for the same', async () => {
    const environment = virtualEnvironment()
    const client = createFakeClient(environment)
    const factory = createInformerFactory(client, environment)
    const one = factory.informer(widgets)
    const other = factory.informer(widgets, { indexes: { node: (object: Widget) => [object.spec?.node ?? ''] } })
    factory.start()
    await environment.clock.settle()
    await factory.waitForSync()
    await client.create(widgets, widget('a', { spec: { node: 'n1' } }))
    await environment.clock.settle()
    expect(other).toBe(one)
    expect(one.byIndex('node', 'n1')).toHaveLength(1)
    expect(client.calls.filter((call) => call.verb === 'watch')).toHaveLength(1)
  })

  it('keeps apart what has other selectors, and knows all informers of a resource', () => {
    const environment = virtualEnvironment()
    const factory = createInformerFactory(createFakeClient(environment), environment)
    const all = factory.informer(widgets)
    const some = factory.informer(widgets, { labelSelector: 'app=web' })
    expect(some).not.toBe(all)
    expect(factory.informersOf(widgets)).toEqual([all, some])
  })

  it('starts an informer that is asked for after the start', async () => {
    const environment = virtualEnvironment()
    const client = createFakeClient(environment)
    const factory = createInformerFactory(client, environment)
    factory.start()
    const late = factory.informer(widgets)
    await environment.clock.settle()
    expect(late.hasSynced).toBe(true)
    await factory.stop()
  })
})
