import { eventsV1 } from '@coracle/api'
import { createLogger, type LogLine, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createEventRecorder, type EventRecorder } from './event-recorder.ts'
import { seriesGapMaxMs } from './series-events.ts'
import { createFakeClient, type FakeClient } from './testing/index.ts'

const about = {
  apiVersion: 'example.com/v1',
  kind: 'Website',
  metadata: { namespace: 'shop', name: 'front', uid: 'u1' },
}

let environment: VirtualEnvironment
let client: FakeClient
let recorder: EventRecorder
let lines: LogLine[]

beforeEach(() => {
  lines = []
  environment = virtualEnvironment({ logger: createLogger((line) => lines.push(line)) })
  client = createFakeClient(environment)
  recorder = createEventRecorder(client, environment, {
    component: 'website-controller',
    instance: 'website-1',
    api: 'events.k8s.io/v1',
  })
})

const stored = () => client.stored(eventsV1)
const writes = () => client.calls.map(({ verb }) => verb)

async function fail(times = 1, message = 'no such image'): Promise<void> {
  for (let time = 0; time < times; time++) recorder.event(about, 'Warning', 'Failed', message, { action: 'Deploying' })
  await environment.clock.settle()
}

describe('events of events.k8s.io/v1', () => {
  it('say who did what to which object, and why', async () => {
    recorder.event(about, 'Normal', 'Deployed', 'It is there.', {
      related: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'shop', name: 'front' } },
      fieldPath: 'spec.image',
    })
    await environment.clock.settle()
    expect(stored()).toMatchObject([
      {
        metadata: { namespace: 'shop', name: expect.stringMatching(/^front\.[0-9a-f]+$/) },
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'website-controller',
        reportingInstance: 'website-1',
        action: 'Deployed',
        reason: 'Deployed',
        regarding: { kind: 'Website', namespace: 'shop', name: 'front', uid: 'u1', fieldPath: 'spec.image' },
        related: { kind: 'Deployment', name: 'front' },
        note: 'It is there.',
        type: 'Normal',
      },
    ])
    expect(stored()[0]).not.toHaveProperty('series')
  })

  it('become a series when they happen again, written at once and then once a minute', async () => {
    await fail()
    await environment.clock.advance('10s')
    await fail()
    expect(stored()).toMatchObject([
      { action: 'Deploying', series: { count: 2, lastObservedTime: '2026-01-01T00:00:10.000000Z' } },
    ])
    await fail(5, 'in other words')
    expect(stored()).toMatchObject([{ note: 'no such image', series: { count: 2 } }])
    await environment.clock.advance('1m')
    expect(stored()).toMatchObject([{ series: { count: 7, lastObservedTime: '2026-01-01T00:00:10.000000Z' } }])
    expect(writes()).toEqual(['create', 'patch', 'patch'])
    await environment.clock.advance('1h')
    expect(writes()).toHaveLength(3)
  })

  it('become a series also where they happen again while the first is being written', async () => {
    await fail(2)
    expect(writes()).toEqual(['create', 'patch'])
    expect(stored()).toMatchObject([{ series: { count: 2 } }])
  })

  it('are others where object, reason or action differ, and after a while without one', async () => {
    await fail()
    recorder.event(about, 'Warning', 'Failed', 'no such image', { action: 'Updating' })
    recorder.event(about, 'Warning', 'Refused', 'no such image', { action: 'Deploying' })
    const other = { ...about, metadata: { ...about.metadata, name: 'back', uid: 'u2' } }
    recorder.event(other, 'Warning', 'Failed', 'no such image', { action: 'Deploying' })
    await environment.clock.settle()
    expect(stored()).toHaveLength(4)
    await environment.clock.advance(seriesGapMaxMs)
    await fail()
    expect(stored()).toHaveLength(4)
    await environment.clock.advance(seriesGapMaxMs + 1)
    await fail()
    expect(stored()).toHaveLength(5)
  })

  it('are told anew where the server has forgotten them', async () => {
    await fail()
    for (const { metadata } of stored()) await client.delete(eventsV1, { namespace: 'shop', name: metadata.name ?? '' })
    await fail()
    expect(stored()).toMatchObject([{ series: { count: 2 } }])
  })

  it('are not written without end about one object, and counted all the same', async () => {
    for (let reason = 0; reason < 100; reason++) recorder.event(about, 'Warning', `Reason${reason}`, 'again')
    await environment.clock.settle()
    expect(stored()).toHaveLength(25)
    recorder.event(about, 'Warning', 'Reason0', 'again')
    await environment.clock.settle()
    expect(writes().filter((verb) => verb === 'patch')).toEqual([])
    await environment.clock.advance('10m')
    for (let time = 0; time < 2; time++) recorder.event(about, 'Warning', 'Late', 'again')
    await environment.clock.settle()
    expect(stored()).toHaveLength(26)
  })

  it('are tried again while the server is away, and dropped when the recorder stops', async () => {
    const restore = client.intercept(() => {
      throw new Error('connection refused')
    })
    await fail(3)
    await environment.clock.advance('30s')
    expect(stored()).toEqual([])
    restore()
    await environment.clock.advance('10s')
    expect(stored()).toMatchObject([{ series: { count: 3 } }])
    recorder.stop()
    await fail()
    expect(stored()).toMatchObject([{ series: { count: 3 } }])
  })
})
