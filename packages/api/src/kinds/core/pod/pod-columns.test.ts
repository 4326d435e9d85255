import { describe, expect, it } from 'vitest'
import { formatTime, parseTime } from '../../../time.ts'
import { podColumns } from './pod-columns.ts'
import { storedPod, withStatus } from './pod-fixtures.ts'
import type { Pod } from './pod-schema.ts'
import type { ContainerState, ContainerStatus, PodStatus } from './pod-status.ts'

const nowMs = parseTime('2026-01-01T12:00:00Z')
const ago = (minutes: number): string => formatTime(nowMs - minutes * 60_000)

function row(pod: Pod): Readonly<Record<string, unknown>> {
  return Object.fromEntries(podColumns.map((column) => [column.name, column.cell(pod, nowMs)]))
}

const status = (name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name,
  state,
  ready: false,
  restartCount: 0,
  image: 'nginx',
  imageID: '',
  ...more,
})

const running = (name: string, more: Partial<ContainerStatus> = {}) =>
  status(name, { running: {} }, { ready: true, ...more })
const ended = (name: string, exitCode: number, reason?: string) => status(name, { terminated: { exitCode, reason } })
const endedAt = (minutes: number) => ({ lastState: { terminated: { exitCode: 1, finishedAt: ago(minutes) } } })

const one = storedPod()
const two = storedPod({
  containers: [
    { name: 'web', image: 'a' },
    { name: 'log', image: 'b' },
  ],
})
const withInit = storedPod({
  initContainers: [
    { name: 'first', image: 'a' },
    { name: 'second', image: 'a' },
  ],
})
const withSidecar = storedPod({ initContainers: [{ name: 'proxy', image: 'a', restartPolicy: 'Always' }] })
const deleted = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: ago(1) } })
const ready = { type: 'Ready', status: 'True' } as const

describe('columns of a pod', () => {
  it.each<[string, Pod, PodStatus, string, string]>([
    ['waits to be scheduled', one, { phase: 'Pending' }, '0/1', 'Pending'],
    [
      'waits for gates',
      one,
      { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
      '0/1',
      'SchedulingGated',
    ],
    [
      'is being created',
      one,
      { phase: 'Pending', containerStatuses: [status('web', { waiting: { reason: 'ContainerCreating' } })] },
      '0/1',
      'ContainerCreating',
    ],
    [
      'cannot pull',
      one,
      { phase: 'Pending', containerStatuses: [status('web', { waiting: { reason: 'ImagePullBackOff' } })] },
      '0/1',
      'ImagePullBackOff',
    ],
    ['runs', one, { phase: 'Running', containerStatuses: [running('web')] }, '1/1', 'Running'],
    [
      'crashes',
      one,
      { phase: 'Running', containerStatuses: [status('web', { waiting: { reason: 'CrashLoopBackOff' } })] },
      '0/1',
      'CrashLoopBackOff',
    ],
    ['is done', one, { phase: 'Succeeded', containerStatuses: [ended('web', 0, 'Completed')] }, '0/1', 'Completed'],
    ['failed', one, { phase: 'Failed', containerStatuses: [ended('web', 1, 'Error')] }, '0/1', 'Error'],
    ['failed without a reason', one, { phase: 'Failed', containerStatuses: [ended('web', 3)] }, '0/1', 'ExitCode:3'],
    [
      'was killed',
      one,
      { phase: 'Failed', containerStatuses: [status('web', { terminated: { exitCode: 137, signal: 9 } })] },
      '0/1',
      'Signal:9',
    ],
    ['was evicted', one, { phase: 'Failed', reason: 'Evicted' }, '0/1', 'Evicted'],
    [
      'says what its first container says',
      two,
      { phase: 'Running', containerStatuses: [ended('web', 1, 'Error'), ended('log', 0, 'Completed')] },
      '0/2',
      'Error',
    ],
    [
      'has one left and is ready',
      two,
      { phase: 'Running', conditions: [ready], containerStatuses: [ended('web', 0, 'Completed'), running('log')] },
      '1/2',
      'Running',
    ],
    [
      'has one left and is not ready',
      two,
      { phase: 'Running', containerStatuses: [ended('web', 0, 'Completed'), running('log')] },
      '1/2',
      'NotReady',
    ],
    [
      'has its first init container to run',
      withInit,
      { phase: 'Pending', initContainerStatuses: [status('first', { waiting: { reason: 'PodInitializing' } })] },
      '0/1',
      'Init:0/2',
    ],
    [
      'has one init container done',
      withInit,
      { phase: 'Pending', initContainerStatuses: [ended('first', 0, 'Completed'), status('second', { running: {} })] },
      '0/1',
      'Init:1/2',
    ],
    [
      'has an init container that fails',
      withInit,
      { phase: 'Pending', initContainerStatuses: [ended('first', 1, 'Error')] },
      '0/1',
      'Init:Error',
    ],
    [
      'has an init container that fails without a reason',
      withInit,
      { phase: 'Pending', initContainerStatuses: [ended('first', 2)] },
      '0/1',
      'Init:ExitCode:2',
    ],
    [
      'has an init container that crashes',
      withInit,
      { phase: 'Pending', initContainerStatuses: [status('first', { waiting: { reason: 'CrashLoopBackOff' } })] },
      '0/1',
      'Init:CrashLoopBackOff',
    ],
    [
      'is through with its init containers',
      withInit,
      {
        phase: 'Running',
        initContainerStatuses: [ended('first', 0), ended('second', 0)],
        containerStatuses: [running('web')],
      },
      '1/1',
      'Running',
    ],
    [
      'counts a sidecar',
      withSidecar,
      {
        phase: 'Running',
        initContainerStatuses: [running('proxy', { started: true })],
        containerStatuses: [running('web')],
      },
      '2/2',
      'Running',
    ],
    [
      'waits for a sidecar',
      withSidecar,
      { phase: 'Pending', initContainerStatuses: [running('proxy', { started: false, ready: false })] },
      '0/2',
      'Init:0/1',
    ],
    ['is being deleted', deleted(one), { phase: 'Running', containerStatuses: [running('web')] }, '1/1', 'Terminating'],
    [
      'is being deleted but has ended',
      deleted(one),
      { phase: 'Succeeded', containerStatuses: [ended('web', 0, 'Completed')] },
      '0/1',
      'Completed',
    ],
    [
      'was on a node that is gone',
      deleted(one),
      { phase: 'Running', reason: 'NodeLost', containerStatuses: [running('web')] },
      '1/1',
      'Unknown',
    ],
  ])('a pod that %s', (_what, pod, podStatus, readyText, text) => {
    expect(row(withStatus(pod, podStatus))).toMatchObject({ Ready: readyText, Status: text })
  })

  it.each<[Pod, PodStatus, string]>([
    [one, { containerStatuses: [running('web')] }, '0'],
    [one, { containerStatuses: [running('web', { restartCount: 2 })] }, '2'],
    [one, { containerStatuses: [running('web', { restartCount: 2, ...endedAt(5) })] }, '2 (5m ago)'],
    [
      two,
      {
        containerStatuses: [
          running('web', { restartCount: 1, ...endedAt(90) }),
          running('log', { restartCount: 3, ...endedAt(7) }),
        ],
      },
      '4 (7m ago)',
    ],
    // Once init containers are done, only sidecars count among them.
    [
      withInit,
      { initContainerStatuses: [{ ...ended('first', 0), restartCount: 4 }], containerStatuses: [running('web')] },
      '0',
    ],
    [withInit, { initContainerStatuses: [{ ...ended('first', 1), restartCount: 4 }] }, '4'],
    [
      withSidecar,
      {
        initContainerStatuses: [running('proxy', { started: true, restartCount: 1 })],
        containerStatuses: [running('web', { restartCount: 1 })],
      },
      '2',
    ],
  ])('restarts %#', (pod, podStatus, text) => {
    expect(row(withStatus(pod, { phase: 'Running', ...podStatus })).Restarts).toBe(text)
  })

  it('tells the age, and where the pod is with -o wide', () => {
    const spec = { nodeName: 'node-1', readinessGates: [{ conditionType: 'a.b/lb' }, { conditionType: 'a.b/dns' }] }
    const pod = storedPod(spec)
    const aged = { ...pod, metadata: { ...pod.metadata, creationTimestamp: ago(150) } }
    const conditions = [{ type: 'a.b/lb', status: 'True' as const }]
    expect(row(withStatus(aged, { phase: 'Running', podIPs: [{ ip: '10.0.0.7' }], conditions }))).toMatchObject({
      Name: 'web',
      Age: '150m',
      IP: '10.0.0.7',
      Node: 'node-1',
      'Nominated Node': '<none>',
      'Readiness Gates': '1/2',
    })
    expect(podColumns.filter((each) => each.priority > 0).map((each) => each.name)).toEqual([
      'IP',
      'Node',
      'Nominated Node',
      'Readiness Gates',
    ])
  })
})
