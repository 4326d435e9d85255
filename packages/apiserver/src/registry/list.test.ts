import { configMaps, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { configMap, pod, refusal, startTestCore } from '../testing/test-core.ts'
import { snapshotsMax } from '../watch-cache/past-states.ts'
import { encodeContinue } from './list-request.ts'

async function withTen(options: Parameters<typeof startTestCore>[0] = {}) {
  const test = await startTestCore(options)
  for (let index = 0; index < 10; index += 1) {
    await test.client.create(
      configMaps,
      configMap(`c${index}`, { index: String(index) }, { labels: { even: String(index % 2 === 0) } }),
    )
  }
  const names = async (listOptions: Parameters<typeof test.client.list>[1]) =>
    (await test.client.list(configMaps, listOptions)).items.map(({ metadata }) => metadata.name).join(' ')
  return { ...test, names }
}

describe('list', () => {
  it('gives what is there, in the order of namespaces and names', async () => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('b'))
    await client.create(configMaps, configMap('c', {}, { namespace: 'kube-system' }))
    await client.create(configMaps, configMap('a'))
    const list = await client.list(configMaps)
    expect(list.kind).toBe('ConfigMapList')
    expect(list.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      'default/a',
      'default/b',
      'kube-system/c',
    ])
    expect((await client.list(configMaps, { namespace: 'kube-system' })).items).toHaveLength(1)
  })

  it('is consistent at a version that sees every write acknowledged before', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(configMaps, configMap('a'))
    const list = await client.list(pods)
    expect(Number(list.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(metadata.resourceVersion))
  })

  it('selects by labels and by fields, with few objects and with many', async () => {
    const { client, names } = await withTen()
    expect(await names({ labelSelector: 'even=true' })).toBe('c0 c2 c4 c6 c8')
    expect(await names({ fieldSelector: 'metadata.name=c3', namespace: 'default' })).toBe('c3')
    for (let index = 0; index < 100; index += 1) {
      await client.create(pods, pod(`p${index}`, { labels: { tier: 'x' } }, { nodeName: `n${index % 10}` }))
    }
    const onNode = await client.list(pods, { fieldSelector: 'spec.nodeName=n3', labelSelector: 'tier in (x)' })
    expect(onNode.items).toHaveLength(10)
    await client.patch(
      pods,
      { namespace: 'default', name: 'p3' },
      { type: 'merge', body: { metadata: { labels: { tier: 'y' } } } },
    )
    await client.delete(pods, { namespace: 'default', name: 'p13' }, { gracePeriodSeconds: 0 })
    expect(
      (await client.list(pods, { labelSelector: 'tier=x', fieldSelector: 'spec.nodeName=n3' })).items,
    ).toHaveLength(8)
    expect((await client.list(pods, { labelSelector: 'tier=y' })).items.map(({ metadata }) => metadata.name)).toEqual([
      'p3',
    ])
  })

  it('refuses fields that objects are not selected by', async () => {
    const { client } = await startTestCore()
    const { code, message } = await refusal(client.list(pods, { fieldSelector: 'spec.colour=red' }))
    expect(code).toBe(400)
    expect(message).toContain('field label not supported: spec.colour')
  })
})

describe('pages', () => {
  it('add up to the list, and say how much remains', async () => {
    const { client } = await withTen()
    const seen: string[] = []
    const remaining: unknown[] = []
    let next = ''
    do {
      const page = await client.list(configMaps, { namespace: 'default', limit: 4, continue: next })
      seen.push(...page.items.map(({ metadata }) => metadata.name ?? ''))
      remaining.push(page.metadata.remainingItemCount)
      next = page.metadata.continue ?? ''
    } while (next !== '')
    expect(seen).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9'])
    expect(remaining).toEqual([6, 2, undefined])
  })

  it('are of one state, whatever happens meanwhile', async () => {
    const { client } = await withTen()
    const first = await client.list(configMaps, { limit: 4 })
    await client.delete(configMaps, { namespace: 'default', name: 'c7' })
    await client.create(configMaps, configMap('c41'))
    await client.update(configMaps, configMap('c9', { index: 'changed' }))
    const rest = await client.list(configMaps, { continue: first.metadata.continue ?? '' })
    expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
    expect(rest.items.map(({ data }) => data?.index)).toEqual(['4', '5', '6', '7', '8', '9'])
  })

  it('leave out how much remains where a selector makes that unknown', async () => {
    const { client } = await withTen()
    const page = await client.list(configMaps, { labelSelector: 'even=true', limit: 2 })
    expect(page.metadata.remainingItemCount).toBeUndefined()
    const rest = await client.list(configMaps, { labelSelector: 'even=true', continue: page.metadata.continue ?? '' })
    expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(['c4', 'c6', 'c8'])
  })

  it('go on from history when more states than are kept have been begun', async () => {
    const { client } = await withTen()
    const first = await client.list(configMaps, { limit: 9 })
    for (let index = 0; index <= snapshotsMax; index += 1) {
      await client.update(configMaps, configMap('c9', { index: `changed ${index}` }))
      await client.list(configMaps, { limit: 1 })
    }
    const rest = await client.list(configMaps, { continue: first.metadata.continue ?? '' })
    expect(rest.items.map(({ data }) => data?.index)).toEqual(['9'])
  })

  it('end with 410 when their state is no longer kept, and may go on in the present one', async () => {
    const { client, environment, registry } = await withTen()
    const first = await client.list(configMaps, { limit: 9 })
    await client.update(configMaps, configMap('c9', { index: 'changed' }))
    await environment.clock.advance('11m')
    const error = await client.list(configMaps, { continue: first.metadata.continue ?? '' }).catch((caught) => caught)
    expect(error.status).toMatchObject({ code: 410, reason: 'Expired' })
    expect(error.message).toMatch(/^The provided continue parameter is too old to display a consistent list result/)
    const rest = await registry(configMaps).list({ continue: error.status.metadata.continue })
    expect(rest.items.map(({ object }) => object.metadata.name)).toEqual(['c9'])
  })

  it('are not asked for by what is no token', async () => {
    const { client } = await startTestCore()
    const { code, message } = await refusal(client.list(configMaps, { continue: 'bm8' }))
    expect(code).toBe(400)
    expect(message).toContain('continue key is not valid')
  })
})

describe('the read of one object', () => {
  it('waits for the version that the reader has seen, though not for long', async () => {
    const { registry, client, environment } = await startTestCore()
    const { metadata } = await client.create(configMaps, configMap('a'))
    const next = String(Number(metadata.resourceVersion) + 1)
    const waiting = registry(configMaps).get('default', 'a', next)
    const changed = await client.update(configMaps, configMap('a', { x: '1' }))
    expect((await waiting).object).toBe(changed)

    const inVain = registry(configMaps).get('default', 'a', '999')
    const refused = refusal(inVain)
    await environment.clock.advance('3s')
    expect(await refused).toMatchObject({ code: 504, reason: 'Timeout' })
    expect(await inVain.catch((error: { status: unknown }) => error.status)).toMatchObject({
      message: `Timeout: Too large resource version: 999, current: ${next}`,
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    })
  })

  it('refuses a version that is none', async () => {
    const { registry, client } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    expect(await refusal(registry(configMaps).get('default', 'a', 'abc'))).toMatchObject({
      code: 500,
      message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    })
  })
})

describe('resourceVersion', () => {
  it('Exact gives the state of then', async () => {
    const { client, names } = await withTen()
    const then = (await client.list(configMaps)).metadata.resourceVersion ?? ''
    await client.delete(configMaps, { namespace: 'default', name: 'c0' })
    await client.create(configMaps, configMap('d'))
    const exact = { resourceVersion: then, resourceVersionMatch: 'Exact' } as const
    expect(await names(exact)).toBe('c0 c1 c2 c3 c4 c5 c6 c7 c8 c9')
    expect(await names({ resourceVersion: then, limit: 2 })).toBe('c0 c1')
    expect(await names({ resourceVersion: then })).toBe('c1 c2 c3 c4 c5 c6 c7 c8 c9 d')
  })

  it('Exact of a state no longer kept is 410', async () => {
    const { client, environment } = await withTen()
    const then = (await client.list(configMaps)).metadata.resourceVersion ?? ''
    await client.delete(configMaps, { namespace: 'default', name: 'c0' })
    await environment.clock.advance('11m')
    expect(await refusal(client.list(configMaps, { resourceVersion: then, resourceVersionMatch: 'Exact' }))).toEqual({
      code: 410,
      reason: 'Expired',
      message: 'The resourceVersion for the provided list is too old.',
    })
  })

  it('of the future is waited for', async () => {
    const { client, store } = await withTen()
    const list = client.list(configMaps, { resourceVersion: String((await store.latest()) + 1) })
    await client.create(configMaps, configMap('d'))
    expect((await list).items).toHaveLength(11)
  })

  it('of the future that does not come is a timeout', async () => {
    const { client, store, environment } = await startTestCore()
    const list = refusal(client.list(configMaps, { resourceVersion: '1000' }))
    await environment.clock.advance('3s')
    expect(await list).toEqual({
      code: 504,
      reason: 'Timeout',
      message: `Timeout: Too large resource version: 1000, current: ${await store.latest()}`,
    })
  })

  it('of more digits than a number holds is told as it is asked for', async () => {
    const { client, registry, environment } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const resourceVersion = '9007199254740993'
    const reads = [
      client.list(configMaps, { resourceVersion: `00${resourceVersion}` }),
      client.list(configMaps, { resourceVersion, resourceVersionMatch: 'Exact' }),
      registry(configMaps).get('default', 'a', resourceVersion),
    ].map(refusal)
    await environment.clock.advance('3s')
    for (const { message } of await Promise.all(reads))
      expect(message).toContain('version: 9007199254740993, current: ')
  })

  it.each([
    [{ resourceVersionMatch: 'Exact' }, 422, 'resourceVersionMatch is forbidden unless resourceVersion is provided'],
    [{ resourceVersion: 'abc' }, 400, 'invalid resource version: resourceVersion: Invalid value: "abc"'],
    [
      { continue: encodeContinue({ revision: 1, afterKey: 'a', following: undefined }), resourceVersion: '5' },
      400,
      'specifying resource version is not allowed when using continue',
    ],
  ] as const)('refuses %j', async (options, code, message) => {
    const { client } = await startTestCore()
    const found = await refusal(client.list(configMaps, options))
    expect(found.code).toBe(code)
    expect(found.message).toContain(message)
  })
})
