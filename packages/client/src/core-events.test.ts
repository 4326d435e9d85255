import { ApiError, events } from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createEventRecorder, type EventRecorder } from './event-recorder.ts'
import { eventQueueMax } from './event-writer.ts'
import { createFakeClient, type FakeClient } from './testing/fake-client.ts'
import { widget } from './testing/resources.ts'

const web = widget('web', { metadata: { name: 'web', uid: 'u1', resourceVersion: '7' } })

let environment: VirtualEnvironment
let client: FakeClient
let recorder: EventRecorder

beforeEach(() => {
  environment = virtualEnvironment({ start: '2026-01-01T00:00:00Z' })
  client = createFakeClient(environment)
  recorder = createEventRecorder(client, environment, { component: 'tester', host: 'n1' })
})

describe('event recorder', () => {
  it('writes an event as upstream does', async () => {
    recorder.event(web, 'Normal', 'Started', 'Started it', { fieldPath: 'spec.containers{web}' })
    await recorder.flush()
    const [event] = client.stored(events)
    expect(event?.metadata.name).toMatch(/^web\.[0-9a-f]{16}$/)
    expect(event).toMatchObject({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'default' },
      involvedObject: {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        namespace: 'default',
        name: 'web',
        uid: 'u1',
        resourceVersion: '7',
        fieldPath: 'spec.containers{web}',
      },
      type: 'Normal',
      reason: 'Started',
      message: 'Started it',
      source: { component: 'tester', host: 'n1' },
      reportingComponent: 'tester',
      reportingInstance: 'n1',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    })
  })

  it.each(['system:node', 'n'.repeat(240), ''])('gives events about %j a name that they may have', async (name) => {
    recorder.event({ ...web, metadata: { ...web.metadata, name } }, 'Normal', 'Started', 'Started it')
    await recorder.flush()
    const [event] = client.stored(events)
    expect(event?.metadata.name).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  it('keeps events about objects without a namespace in default', async () => {
    recorder.event({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }, 'Normal', 'NodeReady', 'ready')
    await recorder.flush()
    expect(client.stored(events)[0]).toMatchObject({
      metadata: { namespace: 'default' },
      involvedObject: { name: 'n1' },
    })
  })

  it('counts identical events in one object', async () => {
    for (let time = 0; time < 3; time++) {
      recorder.event(web, 'Warning', 'BackOff', 'again')
      await environment.clock.advance('10s')
    }
    expect(client.stored(events)).toMatchObject([
      { count: 3, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:20Z' },
    ])
  })

  it('loses no count when an event recurs while it is being written', async () => {
    for (let time = 0; time < 5; time++) recorder.event(web, 'Warning', 'BackOff', 'again')
    await recorder.flush()
    expect(client.stored(events)).toMatchObject([{ count: 5 }])
  })

  it('combines events that differ only in their message from the tenth on', async () => {
    for (let time = 0; time < 12; time++) recorder.event(web, 'Warning', 'Failed', `error ${time}`)
    await recorder.flush()
    const combined = client.stored(events).filter((event) => event.message?.startsWith('(combined'))
    expect(client.stored(events)).toHaveLength(10)
    expect(combined).toMatchObject([
      {
        count: 3,
        message: '(combined from similar events): error 11',
        source: { component: expect.any(String) },
        reportingComponent: '',
      },
    ])
  })

  it('says 25 things at once about an object, then one in five minutes', async () => {
    const say = async () => {
      for (let time = 0; time < 30; time++) recorder.event(web, 'Warning', `Reason${time}`, 'x')
      await recorder.flush()
    }
    await say()
    expect(client.stored(events)).toHaveLength(25)
    await environment.clock.advance('5m')
    const before = client.calls.length
    await say()
    expect(client.calls.length - before).toBe(1)
    recorder.event(widget('other'), 'Normal', 'Started', 'x')
    await recorder.flush()
    expect(client.stored(events)).toHaveLength(26)
  })

  it('creates an event anew that the server has forgotten', async () => {
    recorder.event(web, 'Normal', 'Started', 'x')
    await recorder.flush()
    await client.deleteCollection(events, { namespace: 'default' })
    recorder.event(web, 'Normal', 'Started', 'x')
    await recorder.flush()
    expect(client.stored(events)).toMatchObject([{ count: 2 }])
  })

  it('tries again while the server cannot be reached, and never fails its caller', async () => {
    const restore = client.intercept(() => {
      throw new Error('connection refused')
    })
    recorder.event(web, 'Normal', 'Started', 'x')
    await environment.clock.advance('15s')
    restore()
    expect(client.stored(events)).toEqual([])
    await environment.clock.advance('15s')
    expect(client.stored(events)).toHaveLength(1)
  })

  it('gives up an event that the server refuses', async () => {
    client.intercept(() => {
      throw new ApiError(403, 'Forbidden', 'namespace is being terminated')
    })
    recorder.event(web, 'Normal', 'Started', 'x')
    await environment.clock.advance('10m')
    expect(client.calls).toHaveLength(1)
  })

  it('bounds what waits', async () => {
    client.intercept(() => new Promise(() => {}))
    for (let index = 0; index < eventQueueMax + 100; index++)
      recorder.event(widget(`w${index}`), 'Normal', 'Started', 'x')
    await environment.clock.settle()
    recorder.stop()
    expect(client.calls).toHaveLength(8)
  })

  it('shortens long messages', async () => {
    recorder.event(web, 'Normal', 'Started', 'x'.repeat(5000))
    await recorder.flush()
    expect(client.stored(events)[0]?.message).toHaveLength(1024)
  })
})
