import { type ConfigMap, configMaps, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { RequestAttributes, User } from './request.ts'
import { configMap, pod, refusal, startTestCore } from './testing/test-core.ts'

const jane: User = { name: 'jane', groups: ['system:authenticated'] }
const key = { namespace: 'default', name: 'a' }

describe('authorization', () => {
  it.each([
    ['list', 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"'],
    ['get', 'pods "a" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "default"'],
    ['watch', 'pods is forbidden: User "jane" cannot watch resource "pods" in API group "" at the cluster scope'],
    [
      'status',
      'pods "a" is forbidden: User "jane" cannot update resource "pods/status" in API group "" in the namespace "default"',
    ],
    [
      'bind',
      'pods "a" is forbidden: User "jane" cannot create resource "pods/binding" in API group "" in the namespace "default"',
    ],
  ])('refuses %s to who may not', async (what, message) => {
    const { core } = await startTestCore({ authorizer: { refuse: ({ name }) => (name === 'jane' ? '' : undefined) } })
    const client = core.client(jane)
    const calls: Record<string, () => Promise<unknown>> = {
      list: () => client.list(pods, { namespace: 'default' }),
      get: () => client.get(pods, key),
      watch: () => client.watch(pods),
      status: () => client.update(pods, pod('a'), { subresource: 'status' }),
      bind: () => client.createSubresource(pods, key, 'binding', {}),
    }
    expect(await refusal(calls[what]?.() ?? Promise.resolve())).toEqual({ code: 403, reason: 'Forbidden', message })
  })

  it('tells why, where the authorizer does', async () => {
    const { core } = await startTestCore({
      authorizer: { refuse: ({ name }) => (name === 'jane' ? 'no reason' : undefined) },
    })
    expect(() => core.authorize(jane, { kind: 'path', verb: 'get', path: '/metrics' })).toThrow(
      'forbidden: User "jane" cannot get path "/metrics": no reason',
    )
  })

  it('judges every call by what it is about', async () => {
    const asked: string[] = []
    const refuse = (user: User, attributes: RequestAttributes) => {
      if (user.name !== 'jane' || attributes.kind !== 'resource') return undefined
      const { verb, resource, subresource, namespace, name, fieldSelector = '' } = attributes
      const about = `${resource.plural}${subresource && `/${subresource}`}`
      asked.push([verb, about, namespace, name, fieldSelector].join(' ').trim())
      return undefined
    }
    const { core } = await startTestCore({ authorizer: { refuse } })
    const client = core.client(jane)
    await client.create(configMaps, configMap('a'))
    await client.update(configMaps, configMap('a', { x: 'y' }))
    await client.patch(configMaps, key, { type: 'merge', body: {} })
    await client.delete(configMaps, key)
    await client.deleteCollection(configMaps, { namespace: 'default' })
    await client.deleteCollection(configMaps, { namespace: 'default', fieldSelector: 'metadata.name=a' })
    expect(asked).toEqual([
      'create configmaps default',
      'update configmaps default a',
      'patch configmaps default a',
      'delete configmaps default a',
      'deletecollection configmaps default',
      'deletecollection configmaps default  metadata.name=a',
    ])
  })
})

describe('the client in process', () => {
  it('hands out the very object the server holds', async () => {
    const { client, registry } = await startTestCore()
    const created = await client.create(pods, pod('a'))
    expect(registry(pods).peek('default', 'a')?.object).toBe(created)
    expect((await client.list(pods)).items[0]).toBe(created)
  })

  it('tells a watcher all that has happened at once, where it wants that', async () => {
    const { client, environment } = await startTestCore()
    const watch = await client.watch(configMaps)
    const batches = watch.batches?.()[Symbol.asyncIterator]()
    for (const name of ['a', 'b', 'c']) await client.create(configMaps, configMap(name))
    await environment.clock.settle()
    const first = await batches?.next()
    expect(first?.value.map(({ object }: { readonly object: ConfigMap }) => object.metadata.name)).toEqual([
      'a',
      'b',
      'c',
    ])
    const next = batches?.next()
    await client.delete(configMaps, key)
    await environment.clock.settle()
    expect((await next)?.value).toMatchObject([{ type: 'DELETED', object: { metadata: { name: 'a' } } }])
    watch.close()
    expect(await batches?.next()).toEqual({ done: true, value: undefined })
  })

  it('answers 404 for what is not served, and 405 for what a subresource does not do', async () => {
    const { client } = await startTestCore()
    const widgets = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true }
    expect(await refusal(client.list(widgets))).toEqual({
      code: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
    })
    expect((await refusal(client.get(pods, key, { subresource: 'binding' }))).code).toBe(405)
    expect((await refusal(client.get(pods, key, { subresource: 'none' }))).code).toBe(404)
    expect((await refusal(client.update(configMaps, configMap('a'), { subresource: 'status' }))).code).toBe(404)
  })

  it('has housekeeping made up for before a change that a poll leads to, not before it reads', async () => {
    const { client, environment } = await startTestCore()
    const { clock } = environment
    const events: string[] = []
    clock.setTimer(100_000, () => events.push('housekeeping'), { housekeeping: true })
    const poll = async () => {
      await client.list(configMaps)
      events.push('read')
      await client.create(configMaps, configMap('a'))
      events.push('written')
    }
    clock.setTimer(200_000, () => void poll(), { poll: true })
    await clock.advance('1h')
    expect(events).toEqual(['read', 'housekeeping', 'written'])
  })

  it('does nothing once its signal is aborted', async () => {
    const { client, store } = await startTestCore()
    const before = await store.latest()
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(client.create(configMaps, configMap('a'), { signal })).rejects.toThrow('stop')
    expect(await store.latest()).toBe(before)
  })
})
