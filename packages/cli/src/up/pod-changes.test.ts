import { type Pod, parseTime } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { podChanges } from './pod-changes.ts'

const pod = (status: object, spec: object = { nodeName: 'node-0' }, metadata: object = {}): Pod =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', ...metadata }, spec, status }) as unknown as Pod

const ready = (status: string, message?: string) => ({ conditions: [{ type: 'Ready', status, message }] })
const container = (restartCount: number, more: object = {}) => ({
  phase: 'Running',
  containerStatuses: [{ name: 'main', restartCount, ...more }],
})

describe('podChanges', () => {
  it.each<[string, Pod, Pod, readonly string[]]>([
    ['being scheduled', pod({}, {}), pod({}), ['scheduled to node-0']],
    [
      'a pod that fits nowhere',
      pod({}, {}),
      pod({ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }] }, {}),
      ['cannot be scheduled: 0/1 nodes are available'],
    ],
    [
      'starting and becoming ready at once',
      pod({ phase: 'Pending' }),
      pod({ phase: 'Running', podIP: '10.0.0.1', ...ready('True') }),
      ['started, on 10.0.0.1', 'ready'],
    ],
    ['losing readiness', pod(ready('True')), pod(ready('False', 'probe failed')), ['no longer ready: probe failed']],
    [
      'a restart',
      pod(container(0)),
      pod(container(1, { lastState: { terminated: { exitCode: 3 } } })),
      ['container main restarted after it ended with exit code 3 (once)'],
    ],
    [
      'waiting to be restarted',
      pod(container(1)),
      pod(container(1, { state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } } })),
      ['container main waits: CrashLoopBackOff: back-off 10s'],
    ],
    ['finishing', pod(ready('True')), pod({ phase: 'Succeeded', ...ready('False') }), ['finished']],
    [
      'failing',
      pod({ phase: 'Running' }),
      pod({ phase: 'Failed', reason: 'Evicted', message: 'no memory' }),
      ['failed: Evicted: no memory'],
    ],
    [
      'being deleted, and not that it is unready then',
      pod(ready('True')),
      pod(ready('False'), undefined, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }),
      ['stopping, within 30s'],
    ],
    [
      'nothing of what is gone with the next change',
      pod({}),
      pod({}, undefined, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }),
      [],
    ],
    [
      'stopping at once, where something holds the pod',
      pod({}, undefined, { finalizers: ['example.com/wait'] }),
      pod({}, undefined, {
        finalizers: ['example.com/wait'],
        deletionTimestamp: '2026-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 0,
      }),
      ['stopping at once'],
    ],
    [
      'the end of a pod that is stopped, whatever its exit code',
      pod({ phase: 'Running' }, undefined, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      pod({ phase: 'Failed', reason: 'Error' }, undefined, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      ['ended'],
    ],
    [
      'nothing of the wait before the first start',
      pod({}),
      pod(container(0, { state: { waiting: { reason: 'ContainerCreating' } } })),
      ['started'],
    ],
    [
      'a back-off without what the line says already',
      pod(container(1)),
      pod(
        container(1, {
          state: {
            waiting: {
              reason: 'CrashLoopBackOff',
              message:
                'back-off 10s restarting failed container=main pod=crash_default(1c85fe83-322c-4477-91c2-4730bd023b1c)',
            },
          },
        }),
      ),
      ['container main waits: CrashLoopBackOff: back-off 10s'],
    ],
    ['nothing of what stays', pod(container(2)), pod(container(2)), []],
  ])('tells of %s', (_, old, now, expected) => {
    expect(podChanges(old, now).map(({ what }) => what)).toEqual(expected)
  })
})

describe('pods of an earlier life', () => {
  const startedMs = parseTime('2026-01-01T12:00:00Z') + 500
  const old = { creationTimestamp: '2026-01-01T11:00:00Z' }
  const ended = (finishedAt: string) => ({ terminated: { exitCode: 143, finishedAt } })
  const changes = (finishedAt: string, metadata: object) => {
    const stopped = pod(
      { ...container(0, { ready: false, state: ended(finishedAt) }), ...ready('False') },
      {},
      metadata,
    )
    const again = pod(
      { ...container(1, { ready: true, lastState: ended(finishedAt) }), ...ready('True') },
      {},
      metadata,
    )
    const before = pod({ ...container(0, { ready: true }), ...ready('True') }, {}, metadata)
    return [...podChanges(before, stopped, startedMs), ...podChanges(stopped, again, startedMs)]
  }

  it('start again without a warning', () => {
    expect(changes('2026-01-01T12:00:00Z', old)).toEqual([
      { what: 'container main started again', tone: 'plain', isStep: true },
      { what: 'ready', tone: 'good', isStep: true },
    ])
  })

  it.each([
    ['that crash in this one', '2026-01-01T12:00:01Z', old],
    ['only in the eyes of a coarse clock', '2026-01-01T12:00:00Z', { creationTimestamp: '2026-01-01T12:00:00Z' }],
  ])('are told of as any other: %s', (_, finishedAt, metadata) => {
    expect(changes(finishedAt, metadata).map(({ what }) => what)).toEqual([
      'no longer ready',
      'container main restarted after it ended with exit code 143 (once)',
      'ready',
    ])
  })
})
