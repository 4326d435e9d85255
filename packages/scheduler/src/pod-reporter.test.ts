import { eventsV1, type KubernetesObject, type Pod, type PodCondition, pods, type Resource } from '@coracle/api'
import type { ObjectKey, Patch, WriteOptions } from '@coracle/client'
import { createFakeClient } from '@coracle/client/testing'
import { createLogger, type LogLine, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { PodReporter } from './pod-reporter.ts'
import { makePod } from './testing/objects.ts'

let environment: ReturnType<typeof virtualEnvironment>
let reporter: PodReporter
let client: ReturnType<typeof createFakeClient>
let patches: unknown[]
let causes: unknown[]
let logged: LogLine[]
/** What patching rejects with. */
let failure: Error | undefined

beforeEach(() => {
  environment = virtualEnvironment()
  logged = []
  const logger = createLogger((line) => logged.push(line), 'debug')
  client = createFakeClient(environment)
  patches = []
  causes = []
  failure = undefined
  client.patch = async <T extends KubernetesObject>(
    _: Resource<T>,
    { namespace, name }: ObjectKey,
    { type, body }: Patch,
    { subresource, because, reconcile }: WriteOptions = {},
  ): Promise<T> => {
    if (failure !== undefined) throw failure
    patches.push([`${namespace}/${name}`, type, subresource, body])
    causes.push([because, reconcile?.controller])
    return {} as T
  }
  reporter = new PodReporter(client, { ...environment, logger }, 'my-scheduler')
})

const events = async () => {
  await reporter.stop()
  return client.stored(eventsV1).map(({ type, reason, note, action, regarding, related, reportingController }) => ({
    said: `${type} ${reason} ${regarding?.name}: ${note}`,
    action,
    by: reportingController,
    related: related?.name,
  }))
}

const refused = (reason: string, message: string): PodCondition => ({
  type: 'PodScheduled',
  status: 'False',
  reason,
  message,
  lastTransitionTime: '2020-01-01T00:00:00Z',
})
const withStatus = (status: Pod['status']): Pod => ({ ...makePod({}, 'p'), status }) as Pod
const metadata = { uid: 'uid-p' }
const patched = (status: object) => ['default/p', 'strategic', 'status', { metadata, status }]

describe('users are told', () => {
  it('that a pod was assigned', async () => {
    reporter.bound(makePod({}, 'p'), 'n')
    expect(await events()).toEqual([
      {
        said: 'Normal Scheduled p: Successfully assigned default/p to n',
        action: 'Binding',
        by: 'my-scheduler',
        related: undefined,
      },
    ])
    expect(logged).toMatchObject([{ level: 'debug', message: 'pod assigned', fields: { pod: 'default/p', node: 'n' } }])
  })

  it('that a pod left its node for another', async () => {
    reporter.preempted(makePod({}, 'victim'), makePod({}, 'p'), 'n')
    expect(await events()).toEqual([
      {
        said: 'Normal Preempted victim: Preempted by pod uid-p on node n',
        action: 'Preempting',
        by: 'my-scheduler',
        related: 'p',
      },
    ])
  })

  it('that a pod has no node, with the reason in its status', async () => {
    const pod = makePod({}, 'p')
    await reporter.unbound({ ...pod, metadata: { ...pod.metadata, generation: 3 } }, 'Unschedulable', 'no room')
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: 'no room',
      observedGeneration: 3,
      lastTransitionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    }
    expect(patches).toEqual([patched({ conditions: [condition] })])
    expect(causes).toEqual([['no room', 'my-scheduler']])
    expect(await events()).toMatchObject([{ said: 'Warning FailedScheduling p: no room', action: 'Scheduling' }])
  })
})

describe('the status of a pod without a node', () => {
  it.each<[string, Pod['status'], string | undefined, boolean]>([
    ['says it for the first time', {}, undefined, true],
    ['says it already', { conditions: [refused('Unschedulable', 'no room')] }, undefined, false],
    ['says another reason', { conditions: [refused('SchedulerError', 'no room')] }, undefined, true],
    ['says something else', { conditions: [refused('Unschedulable', 'no node')] }, undefined, true],
    [
      'says that it has one',
      { conditions: [{ ...refused('Unschedulable', 'no room'), status: 'True' }] },
      undefined,
      true,
    ],
    [
      'says so of another condition',
      { conditions: [{ ...refused('Unschedulable', 'no room'), type: 'Ready' }] },
      undefined,
      true,
    ],
    [
      'says it, and the node that it is to come to',
      { nominatedNodeName: 'n', conditions: [refused('Unschedulable', 'no room')] },
      'n',
      false,
    ],
    [
      'says it, and keeps its node where nothing is said of that',
      { nominatedNodeName: 'n', conditions: [refused('Unschedulable', 'no room')] },
      undefined,
      false,
    ],
    ['says it, and gets a node', { conditions: [refused('Unschedulable', 'no room')] }, 'n', true],
    [
      'says it, and loses its node',
      { nominatedNodeName: 'n', conditions: [refused('Unschedulable', 'no room')] },
      '',
      true,
    ],
  ])('%s: written (%#)', async (_, status, node, isWritten) => {
    await reporter.unbound(withStatus(status), 'Unschedulable', 'no room', node)
    expect(patches).toHaveLength(isWritten ? 1 : 0)
  })

  it('says since when, whatever the reason is now', async () => {
    const ready = { ...refused('Unschedulable', 'no room'), type: 'Ready', lastTransitionTime: '2019-01-01T00:00:00Z' }
    const conditions = [ready, refused('Unschedulable', 'no room')]
    await reporter.unbound(withStatus({ conditions }), 'SchedulerError', 'no answer', '')
    expect(patches).toEqual([
      patched({ conditions: [expect.objectContaining({ lastTransitionTime: '2020-01-01T00:00:00Z' })] }),
    ])
  })

  it('says which node the pod is to come to, or that there is none', async () => {
    await reporter.expected(withStatus({}), 'n')
    await reporter.expected(withStatus({ nominatedNodeName: 'n' }), 'n')
    await reporter.unnominated(withStatus({ nominatedNodeName: 'n' }), 'its place is for another')
    await reporter.unnominated(withStatus({}), 'its place is for another')
    await reporter.unbound(withStatus({ nominatedNodeName: 'n' }), 'Unschedulable', 'no room', '')
    expect(patches).toEqual([
      patched({ nominatedNodeName: 'n' }),
      patched({ nominatedNodeName: null }),
      patched({ conditions: [expect.anything()], nominatedNodeName: null }),
    ])
    expect(causes.slice(0, 2)).toEqual([
      ['what it needs on n is being made', 'my-scheduler'],
      ['its place is for another', 'my-scheduler'],
    ])
  })

  it('is not written where the server refuses, which is logged', async () => {
    failure = new Error('no writes today')
    await reporter.expected(withStatus({}), 'n')
    expect(logged).toMatchObject([
      {
        level: 'warn',
        message: 'recording why a pod has no node failed',
        fields: { pod: 'default/p', error: failure },
      },
    ])
  })
})

it('nothing is told after it was stopped', async () => {
  await reporter.stop()
  reporter.bound(makePod({}, 'p'), 'n')
  await environment.clock.advance('1m')
  expect(client.stored(eventsV1)).toEqual([])
  expect(client.stored(pods)).toEqual([])
})
