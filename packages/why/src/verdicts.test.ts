import {
  endpointSlices,
  type KubernetesObject,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  type Resource,
  resourceClaimTemplates,
  services,
  storageClasses,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { findingsOf } from './explanation.ts'
import { type Around, condition, examined, object, onNode, pod, readyNode, running } from './testing/examined.ts'

type Case = readonly [
  what: string,
  subject: KubernetesObject,
  around: Around,
  reason: string,
  because: string,
  remedy: string,
]

const knowing = (...known: readonly (readonly [Resource, readonly KubernetesObject[]])[]): Around => ({
  known: new Map(known),
})
const at = (resource: unknown, ...objects: readonly KubernetesObject[]) => [resource as Resource, objects] as const

const unplaced = (message: string) =>
  pod({ phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'Unschedulable', message)] })
const waiting = (reason: string, message = '') =>
  pod(
    {
      phase: 'Pending',
      startTime: '2026-01-01T00:00:00Z',
      containerStatuses: [{ name: 'main', ready: false, restartCount: 0, state: { waiting: { reason, message } } }],
    },
    onNode,
  )
const onReadyNode = knowing(at(nodes, readyNode))
const untolerated = '0/1 nodes are available: 1 node(s) had untolerated taint(s).'
const cordonedNode = (spec: object) =>
  object('v1', 'Node', {
    metadata: { name: 'n1', namespace: undefined },
    spec: { taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }], ...spec },
  })

const allTaken = '0/2 nodes are available: 2 cannot allocate all claims.'
const noClaim = '0/1 nodes are available: could not find ResourceClaim "default/gpu".'
const noClass = '0/1 nodes are available: request gpu: device class gpu does not exist.'
const fromTemplate = pod({ phase: 'Pending' }, { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one' }] })

const ofPods: readonly Case[] = [
  [
    'devices that others have',
    unplaced(`${allTaken} still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful.`),
    knowing(),
    'DevicesTaken',
    `${allTaken} still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful.`,
    'end pods that have such devices, or add a node that has some: `coracle get resourceclaims` shows who has what, `coracle get resourceslices` what there is',
  ],
  [
    'a claim of devices that is not there',
    unplaced(noClaim),
    knowing(),
    'ResourceClaimMissing',
    noClaim,
    'create resourceclaim/gpu, or name one that there is in spec.resourceClaims',
  ],
  [
    'a class of devices that is not there',
    unplaced(noClass),
    knowing(),
    'DeviceClassMissing',
    noClass,
    'create deviceclass/gpu, as the driver of the devices brings it',
  ],
  [
    'a template of claims that is not there',
    fromTemplate,
    knowing(at(resourceClaimTemplates)),
    'ResourceClaimTemplateMissing',
    'claim gpu is to be made from resource claim template one, which is not there',
    'create resourceclaimtemplate/one, or name one that there is in spec.resourceClaims',
  ],
  [
    'a node that is cordoned',
    unplaced(untolerated),
    knowing(at(nodes, cordonedNode({ unschedulable: true }))),
    'UntoleratedTaint',
    untolerated,
    '`coracle uncordon n1`, or add a node',
  ],
  [
    'the taint of a node that was cordoned',
    unplaced(untolerated),
    knowing(at(nodes, cordonedNode({}))),
    'UntoleratedTaint',
    untolerated,
    'node n1 is uncordoned: the node-controller takes its taint away, if it runs',
  ],
  [
    'no room for one more pod',
    unplaced('0/2 nodes are available: 2 Too many pods.'),
    {},
    'TooManyPods',
    '0/2 nodes are available: 2 Too many pods.',
    'add a node, or end pods',
  ],
  [
    'a node that it names and that is not there',
    unplaced("0/1 nodes are available: 1 node(s) didn't match the requested node name."),
    {},
    'NodeNameMismatch',
    'requested node name',
    'name a node that there is',
  ],
  [
    'its affinity to pods',
    unplaced("0/1 nodes are available: 1 node(s) didn't match pod affinity rules."),
    {},
    'PodAffinityMismatch',
    'pod affinity rules',
    'start pods that its affinity asks for',
  ],
  [
    'a volume on other nodes',
    unplaced('0/1 nodes are available: 1 node(s) had volume node affinity conflict.'),
    {},
    'VolumeNodeMismatch',
    'volume node affinity conflict',
    'make room there',
  ],
  [
    'more than one resource that is short',
    unplaced('0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient example.com/gpu.'),
    {},
    'InsufficientResources',
    'Insufficient cpu',
    'or add a node; and ask for less example.com/gpu',
  ],
  [
    'nodes without the label by which pods are spread',
    pod(
      {
        phase: 'Pending',
        conditions: [
          condition(
            'PodScheduled',
            'False',
            'Unschedulable',
            "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints (missing required label).",
          ),
        ],
      },
      { topologySpreadConstraints: [{ topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', maxSkew: 1 }] },
    ),
    {},
    'TopologySpreadMismatch',
    'missing required label',
    'label nodes with rack, by which the pods are to be spread',
  ],
  [
    'no volume that its claims could have',
    unplaced("0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."),
    {},
    'NoVolumeFound',
    "didn't find available persistent volumes",
    'create volumes that its claims can have',
  ],
  [
    'claims without a volume',
    unplaced('0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.'),
    {},
    'ClaimUnbound',
    'unbound immediate PersistentVolumeClaims',
    'coracle get pvc',
  ],
  [
    'a volume that another pod has',
    unplaced('0/1 nodes are available: 1 node(s) had a ReadWriteOncePod volume in use.'),
    {},
    'VolumeInUse',
    'ReadWriteOncePod',
    'end the pod that has the volume',
  ],
  [
    'nodes with as many volumes as they can have',
    unplaced('0/1 nodes are available: 1 node(s) exceed max volume count.'),
    {},
    'VolumeLimitReached',
    'exceed max volume count',
    'add a node',
  ],
  [
    'a name of an image that is none',
    waiting('InvalidImageName'),
    onReadyNode,
    'ImageNameInvalid',
    'InvalidImageName, image a',
    'correct the name of the image',
  ],
  [
    'a configuration that does not hold together',
    waiting('CreateContainerConfigError', 'container has runAsNonRoot and image will run as root'),
    onReadyNode,
    'ContainerConfigInvalid',
    'runAsNonRoot',
    'correct what the message names',
  ],
  [
    'a container that cannot be made',
    waiting('CreateContainerError', 'the name is in use'),
    onReadyNode,
    'ContainerNotCreated',
    'CreateContainerError: the name is in use',
    'its image, command and mounts',
  ],
  [
    'a container that cannot start',
    waiting('RunContainerError', 'exec format error'),
    onReadyNode,
    'ContainerNotStarted',
    'exec format error',
    'its image and command',
  ],
  [
    'a hook that fails',
    waiting('PostStartHookError', 'exit code 1'),
    onReadyNode,
    'PostStartHookFailed',
    'exit code 1',
    'correct lifecycle.postStart',
  ],
]

const claim = (spec: object, status: object = {}, metadata: object = {}) =>
  object('v1', 'PersistentVolumeClaim', {
    spec: { resources: { requests: { storage: '1Gi' } }, ...spec },
    status,
    metadata,
  })
const volume = (spec: object, status: object = {}, metadata: object = {}) =>
  object('v1', 'PersistentVolume', {
    metadata: { name: 'pv', namespace: undefined, ...metadata },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
    status,
  })
const classOf = (provisioner: string) =>
  object('storage.k8s.io/v1', 'StorageClass', { metadata: { name: 'local', namespace: undefined }, provisioner })
const going = { deletionTimestamp: '2026-01-01T00:00:30Z' }
const user = pod({ phase: 'Running' }, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'web' } }] })

const ofStorage: readonly Case[] = [
  [
    'the volume of a claim is gone',
    claim({ volumeName: 'pv' }, { phase: 'Lost' }),
    {},
    'VolumeLost',
    'bound to volume pv, which is not there',
    'delete the claim',
  ],
  [
    'the volume that a claim names is not there',
    claim({ volumeName: 'pv' }),
    knowing(at(persistentVolumes)),
    'VolumeMissing',
    'it wants volume pv, which is not there',
    'create persistentvolume/pv',
  ],
  [
    'the volume that a claim names is for another claim',
    claim({ volumeName: 'pv' }),
    knowing(at(persistentVolumes, volume({ claimRef: { namespace: 'default', name: 'other' } }))),
    'VolumeTaken',
    'which is for claim default/other',
    'claim another volume',
  ],
  [
    'the volume that a claim names is too small',
    claim({ volumeName: 'pv', accessModes: ['ReadWriteOnce'], storageClassName: '' }),
    knowing(at(persistentVolumes, volume({ capacity: { storage: '1Mi' } }))),
    'VolumeMismatch',
    'it wants volume pv: ',
    'claim what the volume has',
  ],
  [
    'a claim waits for its pod to have a node',
    claim({ storageClassName: 'slow' }),
    knowing(
      at(
        storageClasses,
        object('storage.k8s.io/v1', 'StorageClass', {
          metadata: { name: 'slow', namespace: undefined },
          provisioner: 'a.io/disk',
          volumeBindingMode: 'WaitForFirstConsumer',
        }),
      ),
      at(pods, user),
      at(persistentVolumes),
    ),
    'WaitsForPodScheduled',
    'pod web has none yet',
    'coracle why pod/web',
  ],
  [
    'a volume is free and about to be bound',
    claim({ accessModes: ['ReadWriteOnce'], storageClassName: '' }),
    knowing(at(persistentVolumes, volume({}))),
    'BindingUnderWay',
    'volume pv is free',
    'ask again in a moment',
  ],
  [
    'of several volumes that are free one fits',
    claim({ accessModes: ['ReadWriteOnce'], storageClassName: '' }),
    knowing(at(persistentVolumes, volume({ capacity: { storage: '1Mi' } }), volume({}, {}, { name: 'large' }))),
    'BindingUnderWay',
    'volume large is free',
    'ask again in a moment',
  ],
  [
    'a volume of a class that has no object is about to be bound',
    claim({ accessModes: ['ReadWriteOnce'], storageClassName: 'manual' }),
    knowing(at(storageClasses), at(persistentVolumes, volume({ storageClassName: 'manual' }))),
    'BindingUnderWay',
    'volume pv is free',
    'ask again in a moment',
  ],
  [
    'the volume of a class that has no object is too small',
    claim({ accessModes: ['ReadWriteOnce'], storageClassName: 'manual' }),
    knowing(
      at(storageClasses),
      at(persistentVolumes, volume({ storageClassName: 'manual', capacity: { storage: '1Mi' } })),
    ),
    'StorageClassMissing',
    'there is no StorageClass manual, and pv does not fit: requested PV is too small',
    'create storageclass/manual',
  ],
  [
    'the labels of a volume are not those that a claim selects',
    claim({ accessModes: ['ReadWriteOnce'], storageClassName: '', selector: { matchLabels: { disk: 'fast' } } }),
    knowing(at(persistentVolumes, volume({}))),
    'NoVolumeFits',
    'pv does not fit: spec.selector of the claim does not select it',
    'create a volume that fits',
  ],
  [
    'nothing makes volumes of a class, and none is there',
    claim({ storageClassName: 'local' }),
    knowing(at(storageClasses, classOf('kubernetes.io/no-provisioner')), at(persistentVolumes), at(pods)),
    'NoVolumeFits',
    'nothing makes volumes of class local, so it is to have one that somebody has made, and none is free',
    'create a volume of class local',
  ],
  [
    'a claim is deleted while a pod uses it',
    claim({}, { phase: 'Bound' }, going),
    knowing(at(pods, user)),
    'ClaimInUse',
    'pod web uses it',
    'coracle delete pod web',
  ],
  [
    'a volume is deleted while a claim has it',
    volume({ claimRef: { namespace: 'default', name: 'web', uid: 'u' } }, { phase: 'Bound' }, going),
    knowing(at(persistentVolumeClaims, claim({ volumeName: 'pv' }))),
    'VolumeInUse',
    'claim default/web is bound to it',
    'coracle delete pvc web -n default',
  ],
  [
    'a volume could not be reclaimed',
    volume({}, { phase: 'Failed', message: 'the disk is busy' }),
    {},
    'ReclaimFailed',
    'the disk is busy',
    'see what its provisioner says',
  ],
]

const budget = (status: object) =>
  object('policy/v1', 'PodDisruptionBudget', {
    spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
    status,
  })
const notReady = pod({ phase: 'Running', conditions: [condition('Ready', 'False')] })

const ofOthers: readonly Case[] = [
  [
    'a Job that another controller runs',
    object('batch/v1', 'Job', { spec: { managedBy: 'kueue.x-k8s.io/multikueue' }, status: {} }),
    {},
    'ManagedElsewhere',
    'spec.managedBy is kueue.x-k8s.io/multikueue',
    'see that kueue.x-k8s.io/multikueue runs',
  ],
  [
    'a Job each of whose indexes may fail',
    object('batch/v1', 'Job', {
      spec: { completions: 3, backoffLimitPerIndex: 1, backoffLimit: 2_147_483_647, selector: {} },
      status: { failed: 2, active: 0 },
    }),
    {},
    'BackingOff',
    '2 of its pods have failed, and 2 of each index may',
    'the next pod comes after a while',
  ],
  [
    'a ReplicaSet whose pods cannot be deleted',
    object('apps/v1', 'ReplicaSet', {
      spec: { replicas: 0, selector: {} },
      status: { replicas: 1, conditions: [condition('ReplicaFailure', 'True', 'FailedDelete', 'webhook says no')] },
    }),
    {},
    'DeletionRefused',
    'webhook says no',
    'see what refuses the deletion',
  ],
  [
    'a Deployment whose ReplicaSet is refused',
    object('apps/v1', 'Deployment', {
      spec: { replicas: 1, selector: {} },
      status: { conditions: [condition('Progressing', 'False', 'ReplicaSetCreateError', 'quota')] },
    }),
    { events: [{ reason: 'ReplicaSetCreateError', message: 'exceeded quota: sets' }] },
    'ReplicaSetRefused',
    'exceeded quota: sets',
    'correct its template',
  ],
  [
    'a Deployment whose ReplicaSet a webhook does not answer',
    object('apps/v1', 'Deployment', {
      spec: { replicas: 1, selector: {} },
      status: {
        conditions: [condition('Progressing', 'False', 'ReplicaSetCreateError', 'failed calling webhook "a.b.c"')],
      },
    }),
    {},
    'ReplicaSetRefused',
    'failed calling webhook',
    'correct its template, or what refuses it: see that webhook a.b.c is reachable',
  ],
  [
    'a budget whose pods cannot be counted',
    budget({ conditions: [condition('DisruptionAllowed', 'False', 'SyncFailed', 'no controllers found')] }),
    {},
    'SyncFailed',
    'no controllers found',
    'minAvailable with a number',
  ],
  [
    'a budget with too few healthy pods',
    budget({ disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2, expectedPods: 3 }),
    {},
    'BudgetExhausted',
    '1 pods are healthy, and 2 of 3 have to be',
    'when more pods are ready',
  ],
  [
    'a node that has never reported',
    object('v1', 'Node', { metadata: { name: 'n1', namespace: undefined }, status: {} }),
    {},
    'NodeNeverReported',
    'it has no condition Ready',
    'see that its agent runs',
  ],
  [
    'a quota that is used up',
    object('v1', 'ResourceQuota', {
      status: { hard: { pods: '2', 'requests.cpu': '4', secrets: '9' }, used: { pods: '2', 'requests.cpu': '4500m' } },
    }),
    {},
    'QuotaUsedUp',
    'pods: 2 of 2, requests.cpu: 4500m of 4',
    'raise spec.hard',
  ],
  [
    'a definition whose schema is not structural',
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      spec: { names: { plural: 'widgets' } },
      status: {
        conditions: [
          condition('Established', 'True'),
          condition('NonStructuralSchema', 'True', 'Violations', 'spec.type: Required value'),
        ],
      },
    }),
    {},
    'NonStructuralSchema',
    'spec.type: Required value',
    'correct the schema',
  ],
  [
    'a definition that is new',
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
      spec: { names: { plural: 'widgets' } },
      status: {},
    }),
    {},
    'NotEstablished',
    'its controller has said nothing of it so far',
    'wait a moment',
  ],
  [
    'a Service that nobody has written endpoints for',
    object('v1', 'Service', { spec: { ports: [] } }),
    knowing(at(endpointSlices)),
    'NoEndpoints',
    'it has no selector',
    'give it a selector',
  ],
  [
    'a Service whose pods are not ready',
    object('v1', 'Service', { spec: { selector: { app: 'web' }, ports: [] } }),
    knowing(at(pods, notReady)),
    'NoPodReady',
    'it selects 1 pod, which is not ready',
    'wait for the pods to be ready',
  ],
  [
    'an Ingress to a port that its Service does not have',
    object('networking.k8s.io/v1', 'Ingress', {
      spec: { defaultBackend: { service: { name: 'web', port: { number: 81 } } } },
      status: { loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } },
    }),
    knowing(at(services, object('v1', 'Service', { spec: { ports: [{ port: 80 }, { port: 443 }] } }))),
    'BackendPortMissing',
    'service web has no port 81',
    'the service has 80, 443',
  ],
]

const reasonsOf = (subject: KubernetesObject, around: Around) =>
  findingsOf(examined(subject, around)).map(({ reason }) => reason)

describe('a claim of a class that has no object', () => {
  it('is told nothing of volumes that cannot be read', () => {
    const [found] = findingsOf(examined(claim({ storageClassName: 'manual' }), knowing(at(storageClasses))))
    expect(found?.because).toBe('there is no StorageClass manual')
  })
})

describe('a container that crashes', () => {
  const main = { terminated: { exitCode: 1, reason: 'Error', startedAt: '2026-01-01T00:00:20Z' } }
  const looping = pod(
    {
      ...running,
      containerStatuses: [
        { name: 'main', restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: main },
      ],
    },
    onNode,
  )
  const failing = (container: string, at: string) => [
    { reason: 'Unhealthy', message: 'Liveness probe failed: no', lastTimestamp: at },
    {
      reason: 'Killing',
      message: `Container ${container} failed liveness probe, will be restarted`,
      lastTimestamp: at,
    },
  ]

  it.each([
    ['ended for its probe', failing('main', '2026-01-01T00:00:30Z'), ['LivenessProbeFailed']],
    ['not the one whose probe failed', failing('other', '2026-01-01T00:00:30Z'), ['CrashLoop']],
    ['ended for its probe in an earlier run alone', failing('main', '2026-01-01T00:00:10Z'), ['CrashLoop']],
  ])('is %s', (_, events, reasons) => {
    expect(reasonsOf(looping, { ...onReadyNode, events })).toEqual(reasons)
  })
})

describe('a node that is drained', () => {
  const drained = object('v1', 'Node', {
    metadata: { name: 'n1', namespace: undefined },
    spec: { unschedulable: true },
    status: { conditions: [condition('Ready', 'True')] },
  })
  const guarded = (status: object) => pod(status, onNode, { labels: { app: 'web' } })
  const crashing = guarded({ ...running, conditions: [condition('Ready', 'False')] })
  const exhausted = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2, expectedPods: 3 }
  const anyUnhealthy = object('policy/v1', 'PodDisruptionBudget', {
    spec: { selector: { matchLabels: { app: 'web' } }, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    status: exhausted,
  })

  it.each([
    ['by a pod that is ready', guarded({ ...running, conditions: [condition('Ready', 'True')] }), anyUnhealthy, true],
    ['by one that is not, while too few are', crashing, budget(exhausted), true],
    [
      'by no pod that is not ready where enough others are',
      crashing,
      budget({ ...exhausted, currentHealthy: 2 }),
      false,
    ],
    ['by no pod that is not ready where the budget lets such go', crashing, anyUnhealthy, false],
    ['by no pod that has yet to start', guarded({ phase: 'Pending' }), budget(exhausted), false],
  ])('is held up %s', (_, guardedPod, guard, isBlocked) => {
    const found = reasonsOf(drained, knowing(at(pods, guardedPod), at(podDisruptionBudgets, guard)))
    expect(found.includes('DrainBlocked')).toBe(isBlocked)
  })
})

describe.each([
  ['a pod', ofPods],
  ['storage', ofStorage],
  ['other kinds', ofOthers],
])('what holds up %s', (_, cases) => {
  it.each(cases)('%s', (_what, subject, around, reason, because, remedy) => {
    const found = findingsOf(examined(subject, around)).find((each) => each.reason === reason)
    expect(found).toMatchObject({
      because: expect.stringContaining(because),
      remedy: expect.stringContaining(remedy),
    })
  })
})
