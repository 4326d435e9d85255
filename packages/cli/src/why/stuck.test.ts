import type { KubernetesObject, Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { Facts } from './facts.ts'
import { explainStuck } from './stuck.ts'

const object = (kind: string, parts: object): KubernetesObject =>
  ({
    apiVersion: 'v1',
    kind,
    ...parts,
    metadata: { name: 'web', namespace: 'default', ...(parts as Pod).metadata },
  }) as KubernetesObject
const pod = (status: object, spec: object = {}, metadata: object = {}) =>
  object('Pod', { metadata, spec: { containers: [], ...spec }, status }) as Pod
const container = (state: object, parts: object = {}) => ({
  name: 'main',
  ready: false,
  restartCount: 0,
  state,
  ...parts,
})
const condition = (type: string, status: string, reason = '', message = '') => ({ type, status, reason, message })
const isGoing = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const onNode = { nodeName: 'n1' }
const started = { startTime: '2026-01-01T00:00:00Z' }
const unschedulable = pod({
  conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/2 nodes are available')],
})
const event = (reason: string, message: string) => ({ reason, message }) as Facts['events'][number]

const facts = (subject: KubernetesObject, more: Partial<Facts> = {}): Facts => ({
  object: subject,
  pods: [],
  claims: [],
  events: [],
  nowMs: 0,
  ...more,
})

const imagePull = pod(
  { ...started, containerStatuses: [container({ waiting: { reason: 'ImagePullBackOff' } })] },
  onNode,
)

describe('what holds an object up', () => {
  it.each<[what: string, Facts, because: string]>([
    [
      'a finalizer',
      facts(object('ConfigMap', { metadata: { ...isGoing, finalizers: ['a.io/b'] } })),
      'a finalizer holds it: a.io/b',
    ],
    [
      'a scheduling gate',
      facts(pod({}, { schedulingGates: [{ name: 'a.io/wait' }] })),
      'it has scheduling gates: a.io/wait',
    ],
    ['no node that takes it', facts(unschedulable), '0/2 nodes are available'],
    [
      'a claim that is not bound',
      facts(pod({}), {
        claims: [
          object('PersistentVolumeClaim', { metadata: { name: 'data' }, status: { phase: 'Pending' } }),
        ] as never,
      }),
      'a claim is not bound: data',
    ],
    [
      'an eviction',
      facts(pod({ ...started, phase: 'Failed', reason: 'Evicted', message: 'low on memory' }, onNode)),
      'low on memory',
    ],
    [
      'a container that failed for good',
      facts(
        pod({ ...started, phase: 'Failed', containerStatuses: [container({ terminated: { exitCode: 3 } })] }, onNode),
      ),
      'container main ended with exit code 3',
    ],
    ['an image that cannot be had', facts(imagePull), 'ImagePullBackOff'],
    [
      'a missing ConfigMap',
      facts(
        pod(
          {
            ...started,
            containerStatuses: [
              container({ waiting: { reason: 'CreateContainerConfigError', message: 'configmap "x" not found' } }),
            ],
          },
          onNode,
        ),
      ),
      'CreateContainerConfigError: configmap "x" not found',
    ],
    [
      'a command that is not there',
      facts(
        pod(
          {
            ...started,
            containerStatuses: [container({ waiting: { reason: 'RunContainerError', message: 'no such file' } })],
          },
          onNode,
        ),
      ),
      'RunContainerError: no such file',
    ],
    [
      'a crash loop',
      facts(
        pod(
          {
            ...started,
            containerStatuses: [
              container(
                { waiting: { reason: 'CrashLoopBackOff' } },
                { restartCount: 4, lastState: { terminated: { exitCode: 1, reason: 'Error' } } },
              ),
            ],
          },
          onNode,
        ),
      ),
      'it has been restarted 4 times, and ended last with exit code 1 (Error)',
    ],
    [
      'a readiness probe that fails',
      facts(
        pod(
          {
            ...started,
            phase: 'Running',
            conditions: [condition('Ready', 'False')],
            containerStatuses: [container({ running: {} })],
          },
          onNode,
        ),
        { events: [event('Unhealthy', 'Readiness probe failed: 503')] },
      ),
      'Readiness probe failed: 503',
    ],
    ['a node that does nothing', facts(pod({}, onNode)), 'node n1 has not taken it on yet'],
    [
      'a paused rollout',
      facts(object('Deployment', { spec: { paused: true } })),
      'it is paused: changes of its template have no effect',
    ],
    [
      'a quota',
      facts(
        object('ReplicaSet', {
          status: { conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 'exceeded quota: q')] },
        }),
      ),
      'exceeded quota: q',
    ],
    [
      'a rollout past its deadline',
      facts(
        object('Deployment', {
          spec: {},
          status: {
            conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded', 'has timed out progressing')],
          },
        }),
      ),
      'has timed out progressing',
    ],
    [
      'the pods of a workload',
      facts(object('Deployment', { spec: {} }), { pods: [unschedulable] }),
      '0/2 nodes are available',
    ],
    ['a suspended Job', facts(object('Job', { spec: { suspend: true } })), 'it is suspended'],
    [
      'another Job',
      facts(
        object('Job', {
          spec: {},
          status: { conditions: [condition('coracle.dev/Waiting', 'True', 'Waiting', 'waits for job a')] },
        }),
      ),
      'waits for job a',
    ],
    [
      'a failed Job',
      facts(
        object('Job', {
          spec: {},
          status: { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded', 'too often')] },
        }),
      ),
      'BackoffLimitExceeded: too often',
    ],
    ['a suspended CronJob', facts(object('CronJob', { spec: { suspend: true } })), 'it is suspended'],
    [
      'a selector that selects nothing',
      facts(object('Service', { spec: { selector: { app: 'wep' } } })),
      'no pod has the labels it selects: app=wep',
    ],
    [
      'pods that are not ready behind a Service',
      facts(object('Service', { spec: { selector: { app: 'web' } } }), { pods: [imagePull] }),
      'it selects 1 pods, and none of them is ready; pod web: container main cannot start: ImagePullBackOff',
    ],
    [
      'a claim without a volume',
      facts(object('PersistentVolumeClaim', { spec: {}, status: { phase: 'Pending' } }), {
        events: [event('FailedBinding', 'no persistent volumes available')],
      }),
      'no persistent volumes available',
    ],
    [
      'metrics that are missing',
      facts(
        object('HorizontalPodAutoscaler', {
          spec: {},
          status: { conditions: [condition('ScalingActive', 'False', 'FailedGetResourceMetric', 'no metrics')] },
        }),
      ),
      'no metrics',
    ],
    [
      'what is left in a namespace',
      facts(
        object('Namespace', {
          metadata: isGoing,
          status: {
            conditions: [condition('NamespaceContentRemaining', 'True', '', 'pods. has 1 resource instances')],
          },
        }),
      ),
      'pods. has 1 resource instances',
    ],
    [
      'a node that is silent',
      facts(
        object('Node', {
          status: {
            conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.')],
          },
        }),
      ),
      'Kubelet stopped posting node status.',
    ],
    ['a cordon', facts(object('Node', { spec: { unschedulable: true } })), 'it is cordoned'],
  ])('is %s', (_what, given, because) => {
    const [stuck, ...others] = explainStuck(given)
    expect(stuck?.because).toBe(because)
    expect(others).toEqual([])
    expect([stuck?.what, stuck?.remedy]).not.toContain('')
  })

  it.each<[what: string, Facts]>([
    [
      'a pod that runs and is ready',
      facts(pod({ ...started, phase: 'Running', conditions: [condition('Ready', 'True')] }, onNode)),
    ],
    ['a pod that has just been made', facts(pod({ phase: 'Pending' }))],
    [
      'a pod that goes',
      facts(pod({ ...started, phase: 'Running', conditions: [condition('Ready', 'False')] }, onNode, isGoing)),
    ],
    [
      'a Deployment whose pods are well',
      facts(object('Deployment', { spec: {} }), { pods: [pod({ ...started, phase: 'Running' }, onNode)] }),
    ],
    ['a Service without a selector', facts(object('Service', { spec: {} }))],
    ['a claim that is bound', facts(object('PersistentVolumeClaim', { spec: {}, status: { phase: 'Bound' } }))],
    ['a node that is ready', facts(object('Node', { spec: {}, status: { conditions: [condition('Ready', 'True')] } }))],
    ['a kind that nothing is known of', facts(object('Widget', {}))],
  ])('is nothing for %s', (_what, given) => {
    expect(explainStuck(given)).toEqual([])
  })
})

describe('what would help a container whose configuration is refused', () => {
  it.each([
    ['configmap "x" not found', 'create the ConfigMap or Secret it names, or correct the name and the key'],
    [
      "couldn't find key a in Secret default/x",
      'create the ConfigMap or Secret it names, or correct the name and the key',
    ],
    [
      'volumeMount "data" cannot be mounted at /data',
      'correct what the message names in the pod, or in the template that makes it',
    ],
  ])('%s', (message, remedy) => {
    const waiting = container({ waiting: { reason: 'CreateContainerConfigError', message } })
    const [stuck] = explainStuck(facts(pod({ ...started, containerStatuses: [waiting] }, onNode)))
    expect(stuck?.remedy).toBe(remedy)
  })
})
