import {
  type Event,
  type EventV1,
  events,
  eventsV1,
  type HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerV1,
  horizontalPodAutoscalers,
  horizontalPodAutoscalersV1,
} from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestServer } from '../http/testing/test-server.ts'
import { follow, refusal, startTestCore } from '../testing/test-core.ts'

const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 5 }
const v1 = (name: string, more: object = {}): HorizontalPodAutoscalerV1 =>
  ({
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace: 'default' },
    spec: { ...spec, targetCPUUtilizationPercentage: 50, ...more },
  }) as HorizontalPodAutoscalerV1
const v2 = (name: string, more: object = {}): HorizontalPodAutoscaler =>
  ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace: 'default' },
    spec: { ...spec, ...more },
  }) as HorizontalPodAutoscaler
const hits = {
  type: 'Pods',
  pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '10' } },
}
const key = { namespace: 'default', name: 'a' }
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

describe('an object of a kind with two versions', () => {
  it('written in one is read in both, at one resourceVersion', async () => {
    const { client } = await startTestCore()
    const created = await client.create(horizontalPodAutoscalersV1, v1('a'))
    expect(created).toMatchObject({
      apiVersion: 'autoscaling/v1',
      spec: { minReplicas: 1, targetCPUUtilizationPercentage: 50 },
    })
    const other = await client.get(horizontalPodAutoscalers, key)
    expect(other).toMatchObject({ apiVersion: 'autoscaling/v2', spec: { metrics: [cpu(50)] } })
    expect(other.metadata.resourceVersion).toBe(created.metadata.resourceVersion)
    expect(other.metadata.uid).toBe(created.metadata.uid)
  })

  it('has the defaults of both, whichever it is written in', async () => {
    const { client } = await startTestCore()
    const { targetCPUUtilizationPercentage: _target, ...bare } = v1('a').spec
    const created = await client.create(horizontalPodAutoscalersV1, { ...v1('a'), spec: bare })
    expect(created.spec).toMatchObject({ minReplicas: 1, targetCPUUtilizationPercentage: 80 })
    expect((await client.get(horizontalPodAutoscalers, key)).spec.metrics).toEqual([cpu(80)])
  })

  it('is stored once, in the hub’s form', async () => {
    const { client, store, registry } = await startTestCore()
    await client.create(horizontalPodAutoscalersV1, v1('a'))
    const { storage } = registry(horizontalPodAutoscalers)
    expect(storage).toBe(registry(horizontalPodAutoscalersV1).storage)
    const pages = []
    for await (const { entries } of store.pages('/registry/autoscaling/', 10)) pages.push(...entries)
    expect(pages.map((entry) => JSON.parse(Buffer.from(entry.value).toString()).apiVersion)).toEqual(['autoscaling/v2'])
  })

  it('is updated, patched and deleted in either', async () => {
    const { client } = await startTestCore()
    await client.create(horizontalPodAutoscalers, v2('a', { metrics: [cpu(50), hits] }))
    const shown = await client.get(horizontalPodAutoscalersV1, key)
    await client.update(horizontalPodAutoscalersV1, { ...shown, spec: { ...shown.spec, maxReplicas: 6 } })
    expect((await client.get(horizontalPodAutoscalers, key)).spec).toMatchObject({
      maxReplicas: 6,
      metrics: [hits, cpu(50)],
    })
    for (const patch of [
      { type: 'merge', body: { spec: { targetCPUUtilizationPercentage: 60 } } },
      { type: 'json', body: [{ op: 'replace', path: '/spec/minReplicas', value: 2 }] },
      { type: 'strategic', body: { spec: { scaleTargetRef: { name: 'api' } } } },
    ] as const) {
      expect(await client.patch(horizontalPodAutoscalersV1, key, patch)).toMatchObject({ apiVersion: 'autoscaling/v1' })
    }
    expect((await client.get(horizontalPodAutoscalers, key)).spec).toMatchObject({
      minReplicas: 2,
      metrics: [hits, cpu(60)],
      scaleTargetRef: { kind: 'Deployment', name: 'api' },
    })
    await client.delete(horizontalPodAutoscalersV1, key)
    expect((await refusal(client.get(horizontalPodAutoscalers, key))).code).toBe(404)
  })

  it('is not written where a patch changes nothing', async () => {
    const { client } = await startTestCore()
    const created = await client.create(horizontalPodAutoscalersV1, v1('a'))
    const patched = await client.patch(horizontalPodAutoscalersV1, key, {
      type: 'merge',
      body: { spec: { maxReplicas: 5 } },
    })
    expect(patched.metadata.resourceVersion).toBe(created.metadata.resourceVersion)
  })

  it('is answered a dry run in the version of the request', async () => {
    const { client } = await startTestCore()
    const answer = await client.create(horizontalPodAutoscalersV1, v1('a'), { dryRun: true })
    expect(answer).toMatchObject({ apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 50 } })
    expect((await refusal(client.get(horizontalPodAutoscalers, key))).code).toBe(404)
  })

  it('has its status written in either', async () => {
    const { client } = await startTestCore()
    const created = await client.create(horizontalPodAutoscalersV1, v1('a'))
    const status = { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 70 }
    await client.update(horizontalPodAutoscalersV1, { ...created, status }, { subresource: 'status' })
    expect((await client.get(horizontalPodAutoscalers, key)).status).toMatchObject({
      desiredReplicas: 2,
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 70 } } }],
    })
  })

  it('is checked in the hub’s form', async () => {
    const { client } = await startTestCore()
    const { code, message } = await refusal(
      client.create(horizontalPodAutoscalersV1, v1('a', { targetCPUUtilizationPercentage: 0 })),
    )
    expect(code).toBe(422)
    expect(message).toContain('spec.metrics[0].resource.target.averageUtilization: Invalid value: 0')
  })

  it('is not taken in the version of another path', async () => {
    const { client } = await startTestCore()
    const { code, message } = await refusal(client.create(horizontalPodAutoscalers, v1('a') as never))
    expect(code).toBe(400)
    expect(message).toContain('(autoscaling/v1) does not match the expected API version (autoscaling/v2)')
  })
})

describe('lists and watches of a kind with two versions', () => {
  it('show each its version, in one order and at one revision', async () => {
    const { client } = await startTestCore()
    await client.create(horizontalPodAutoscalersV1, v1('a'))
    await client.create(horizontalPodAutoscalers, v2('b'))
    const [one, two] = await Promise.all([
      client.list(horizontalPodAutoscalersV1, { namespace: 'default', limit: 1 }),
      client.list(horizontalPodAutoscalers),
    ])
    expect(one).toMatchObject({ apiVersion: 'autoscaling/v1', items: [{ apiVersion: 'autoscaling/v1' }] })
    expect(two.metadata.resourceVersion).toBe(one.metadata.resourceVersion)
    const rest = await client.list(horizontalPodAutoscalersV1, { continue: one.metadata.continue ?? '' })
    expect(rest.items.map(({ metadata, spec }) => [metadata.name, spec.targetCPUUtilizationPercentage])).toEqual([
      ['b', 80],
    ])
  })

  it('see what is written in the other, from a version of the other', async () => {
    const { client, environment } = await startTestCore()
    const { metadata } = await client.create(horizontalPodAutoscalers, v2('a'))
    const resourceVersion = metadata.resourceVersion ?? ''
    // In process a bookmark comes with the end of a watch.
    const options = { resourceVersion, allowWatchBookmarks: true, timeoutSeconds: 90 }
    const { lines, events: seen } = follow((await client.watch(horizontalPodAutoscalersV1, options)) as never)
    await client.patch(horizontalPodAutoscalers, key, { type: 'merge', body: { spec: { maxReplicas: 7 } } })
    await client.delete(horizontalPodAutoscalers, key)
    await environment.clock.advance('2m')
    expect(lines.slice(0, 2)).toEqual(['MODIFIED a', 'DELETED a'])
    expect(seen.map(({ object }) => (object as { apiVersion: string }).apiVersion)).toEqual(
      seen.map(() => 'autoscaling/v1'),
    )
    expect(seen.at(-1)?.type).toBe('BOOKMARK')
    expect(seen[0]?.object).toMatchObject({ spec: { maxReplicas: 7, targetCPUUtilizationPercentage: 80 } })
  })

  it('make what they show once for all', async () => {
    const { client, registry } = await startTestCore()
    await client.create(horizontalPodAutoscalers, v2('a'))
    const [one, two] = await Promise.all([1, 2].map(() => registry(horizontalPodAutoscalersV1).get('default', 'a')))
    expect(two?.bytes).toBe(one?.bytes)
    const page = await registry(horizontalPodAutoscalersV1).list({})
    expect(page.items[0]?.bytes).toBe(one?.bytes)
    expect(JSON.parse(String(one?.bytes))).toEqual(one?.withManagedFields)
  })
})

describe('events', () => {
  const reported = (name: string, more: object = {}): EventV1 =>
    ({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'example.com/mine',
      reportingInstance: 'mine-1',
      action: 'Starting',
      reason: 'Started',
      regarding: { kind: 'Pod', namespace: 'default', name },
      note: 'it runs',
      type: 'Normal',
      ...more,
    }) as EventV1

  it('of one group are those of the other', async () => {
    const { client } = await startTestCore()
    await client.create(eventsV1, reported('a'))
    expect(await client.get(events, key)).toMatchObject({
      apiVersion: 'v1',
      involvedObject: { kind: 'Pod', name: 'a' },
      message: 'it runs',
      reportingComponent: 'example.com/mine',
    })
    const old = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'b', namespace: 'default' },
      involvedObject: { namespace: 'default', name: 'b' },
      count: 2,
    } as Event
    await client.create(events, old)
    expect(await client.get(eventsV1, { ...key, name: 'b' })).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { name: 'b' },
      deprecatedCount: 2,
    })
  })

  it('are selected by each version’s own fields', async () => {
    const { client } = await startTestCore()
    await client.create(eventsV1, reported('a'))
    await client.create(eventsV1, reported('b'))
    const names = async (list: Promise<{ items: readonly { metadata: { name?: string | undefined } }[] }>) =>
      (await list).items.map(({ metadata }) => metadata.name)
    expect(await names(client.list(eventsV1, { fieldSelector: 'regarding.name=b' }))).toEqual(['b'])
    expect(await names(client.list(events, { fieldSelector: 'involvedObject.name=b' }))).toEqual(['b'])
    expect(await names(client.list(eventsV1, { fieldSelector: 'metadata.name=a,reportingController=x' }))).toEqual([])
    const { message } = await refusal(client.list(eventsV1, { fieldSelector: 'involvedObject.name=b' }))
    expect(message).toBe('field label not supported: involvedObject.name')
  })

  it('are watched by each version’s own fields', async () => {
    const { client, environment } = await startTestCore()
    const { lines } = follow((await client.watch(eventsV1, { fieldSelector: 'regarding.name=b' })) as never)
    await client.create(eventsV1, reported('a'))
    await client.create(eventsV1, reported('b'))
    await environment.clock.settle()
    expect(lines).toEqual(['ADDED b'])
  })

  it('are checked as the version of the request asks', async () => {
    const { client } = await startTestCore()
    const { message } = await refusal(client.create(eventsV1, reported('a', { type: 'Bad' })))
    expect(message).toContain('type: Invalid value: "": has invalid value: Bad')
    const created = await client.create(eventsV1, reported('a'))
    expect((await refusal(client.update(eventsV1, { ...created, note: 'b' }))).message).toContain(
      'message: Invalid value: "b": field is immutable',
    )
    const patch = { type: 'merge', body: { message: 'b' } } as const
    expect(await client.patch(events, key, patch)).toMatchObject({ message: 'b' })
  })

  it('are deleted as a collection in either', async () => {
    const { client } = await startTestCore()
    await client.create(eventsV1, reported('a'))
    await client.deleteCollection(eventsV1, { namespace: 'default', fieldSelector: 'regarding.kind=Pod' })
    expect((await client.list(events, { namespace: 'default' })).items).toEqual([])
  })
})

describe('over HTTP', () => {
  it('tables are the same in every version, and discovery tells one kind', async () => {
    // Its clock stands still: the tables tell how old an object is.
    const server = await TestServer.start({ environment: virtualEnvironment() })
    onTestFinished(() => server.close())
    const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
    await server.call(path('v1'), { method: 'POST', body: v1('a') })
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const [one, two] = await Promise.all(
      ['v1', 'v2'].map(async (version) => (await server.call(path(version), { headers: { Accept: accept } })).json),
    )
    expect(one).toEqual(two)
    expect(one.rows[0].cells.slice(0, 6)).toEqual(['a', 'Deployment/web', 'cpu: <unknown>/50%', '1', 5, 0])
    const { json: group } = await server.call('/apis/autoscaling')
    expect([group.preferredVersion.version, group.versions.length]).toEqual(['v2', 2])
    const hashOf = async (groupVersion: string, name: string) =>
      (await server.call(groupVersion)).json.resources.find((each: { name: string }) => each.name === name)
        .storageVersionHash
    expect(await hashOf('/apis/autoscaling/v1', 'horizontalpodautoscalers')).toBe(
      await hashOf('/apis/autoscaling/v2', 'horizontalpodautoscalers'),
    )
    // Upstream's own.
    expect(await hashOf('/apis/events.k8s.io/v1', 'events')).toBe('r2yiGXH7wu8=')
    const { json: deleted } = await server.call(path('v1'), { method: 'DELETE' })
    expect(deleted).toMatchObject({ apiVersion: 'autoscaling/v1', items: [{ metadata: { name: 'a' } }] })
    // In that version: the second has a list of metrics in its place.
    expect(deleted.items[0].spec).toHaveProperty('targetCPUUtilizationPercentage')
  })
})
