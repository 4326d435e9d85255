import { describe, expect, it } from 'vitest'
import { apiVersionOf } from '../resource.ts'
import { tableOf } from '../table.ts'
import { formatTime, parseTime } from '../time.ts'
import { builtinResources } from './builtin-kinds.ts'

// The tables of every kind: heads and cells as upstream's printers have them (pkg/printers/internalversion/printers.go).

const nowMs = parseTime('2026-01-01T12:00:00Z')
const ago = (minutes: number): string => formatTime(nowMs - minutes * 60_000)

function definitionOf(apiVersion: string, kind: string) {
  const found = builtinResources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)
  if (found === undefined) throw new Error(`no kind ${kind} in ${apiVersion}`)
  return found
}

/** Name, type other than string, format after a colon, and a star for what only `-o wide` shows. */
const heads: Readonly<Record<string, string>> = {
  'v1 ConfigMap': 'Name:name, Data, Age',
  'v1 Endpoints': 'Name:name, Endpoints, Age',
  'v1 Event': 'Last Seen, Type, Reason, Object, Subobject*, Source*, Message, First Seen*, Count*, Name:name*',
  'events.k8s.io/v1 Event':
    'Last Seen, Type, Reason, Object, Subobject*, Source*, Message, First Seen*, Count*, Name:name*',
  'v1 LimitRange': 'Name:name, Created At(date)',
  'v1 Namespace': 'Name:name, Status, Age',
  'v1 Node':
    'Name:name, Status, Roles, Age, Version, Internal-IP*, External-IP*, OS-Image*, Kernel-Version*, Container-Runtime*',
  'v1 PersistentVolumeClaim':
    'Name:name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, Age, VolumeMode*',
  'v1 PersistentVolume':
    'Name:name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, VolumeAttributesClass, Reason, Age, VolumeMode*',
  'v1 Pod': 'Name:name, Ready, Status, Restarts, Age, IP*, Node*, Nominated Node*, Readiness Gates*',
  'v1 PodTemplate': 'Name:name, Containers, Images, Pod Labels',
  'v1 ReplicationController':
    'Name:name, Desired(integer), Current(integer), Ready(integer), Age, Containers*, Images*, Selector*',
  'v1 ResourceQuota': 'Name:name, Request, Limit, Age',
  'v1 Secret': 'Name:name, Type, Data, Age',
  'v1 ServiceAccount': 'Name:name, Age',
  'v1 Service': 'Name:name, Type, Cluster-IP, External-IP, Port(s), Age, Selector*',
  'admissionregistration.k8s.io/v1 MutatingAdmissionPolicy': 'Name:name, Mutations(integer), ParamKind, Age',
  'admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding': 'Name:name, PolicyName, ParamRef, Age',
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration': 'Name:name, Webhooks(integer), Age',
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy': 'Name:name, Validations(integer), ParamKind, Age',
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding': 'Name:name, PolicyName, ParamRef, Age',
  'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration': 'Name:name, Webhooks(integer), Age',
  'apiextensions.k8s.io/v1 CustomResourceDefinition': 'Name:name, Created At(date)',
  'apiregistration.k8s.io/v1 APIService': 'Name:name, Service, Available, Age',
  'apps/v1 ControllerRevision': 'Name:name, Controller, Revision, Age',
  'apps/v1 DaemonSet':
    'Name:name, Desired(integer), Current(integer), Ready(integer), Up-to-date(integer), Available(integer), Node Selector, Age, Containers*, Images*, Selector*',
  'apps/v1 Deployment': 'Name:name, Ready, Up-to-date, Available, Age, Containers*, Images*, Selector*',
  'apps/v1 ReplicaSet':
    'Name:name, Desired(integer), Current(integer), Ready(integer), Age, Containers*, Images*, Selector*',
  'apps/v1 StatefulSet': 'Name:name, Ready, Age, Containers*, Images*',
  'autoscaling/v1 HorizontalPodAutoscaler': 'Name:name, Reference, Targets, MinPods, MaxPods, Replicas, Age',
  'autoscaling/v2 HorizontalPodAutoscaler': 'Name:name, Reference, Targets, MinPods, MaxPods, Replicas, Age',
  'batch/v1 CronJob':
    'Name:name, Schedule, Timezone, Suspend(boolean), Active(integer), Last Schedule, Age, Containers*, Images*, Selector*',
  'batch/v1 Job': 'Name:name, Status, Completions, Duration, Age, Containers*, Images*, Selector*',
  'coordination.k8s.io/v1 Lease': 'Name:name, Holder, Age',
  'discovery.k8s.io/v1 EndpointSlice': 'Name:name, AddressType, Ports, Endpoints, Age',
  'certificates.k8s.io/v1 CertificateSigningRequest':
    'Name:name, Age, SignerName, Requestor, RequestedDuration, Condition',
  'flowcontrol.apiserver.k8s.io/v1 FlowSchema':
    'Name:name, PriorityLevel, MatchingPrecedence, DistinguisherMethod, Age, MissingPL',
  'flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration':
    'Name:name, Type, NominalConcurrencyShares, Queues, HandSize, QueueLengthLimit, Age',
  'networking.k8s.io/v1 IngressClass': 'Name:name, Controller, Parameters, Age',
  'networking.k8s.io/v1 Ingress': 'Name:name, Class, Hosts, Address, Ports, Age',
  'networking.k8s.io/v1 IPAddress': 'Name:name, ParentRef',
  'networking.k8s.io/v1 NetworkPolicy': 'Name:name, Pod-Selector, Age',
  'networking.k8s.io/v1 ServiceCIDR': 'Name:name, CIDRs, Age',
  'node.k8s.io/v1 RuntimeClass': 'Name:name, Handler, Age',
  'policy/v1 PodDisruptionBudget': 'Name:name, Min Available, Max Unavailable, Allowed Disruptions(integer), Age',
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': 'Name:name, Role, Age, Users*, Groups*, ServiceAccounts*',
  'rbac.authorization.k8s.io/v1 ClusterRole': 'Name:name, Created At(date)',
  'rbac.authorization.k8s.io/v1 RoleBinding': 'Name:name, Role, Age, Users*, Groups*, ServiceAccounts*',
  'rbac.authorization.k8s.io/v1 Role': 'Name:name, Created At(date)',
  'resource.k8s.io/v1 DeviceClass': 'Name:name, Age',
  'resource.k8s.io/v1 ResourceClaim': 'Name:name, State, Age',
  'resource.k8s.io/v1 ResourceClaimTemplate': 'Name:name, Age',
  'resource.k8s.io/v1 ResourceSlice': 'Name:name, Node, Driver, Pool, Age',
  'scheduling.k8s.io/v1 PriorityClass': 'Name:name, Value(integer), Global-Default(boolean), Age, PreemptionPolicy',
  'storage.k8s.io/v1 CSIDriver':
    'Name:name, AttachRequired(boolean), PodInfoOnMount(boolean), StorageCapacity(boolean), TokenRequests, RequiresRepublish(boolean), Modes, Age',
  'storage.k8s.io/v1 CSINode': 'Name:name, Drivers(integer), Age',
  'storage.k8s.io/v1 CSIStorageCapacity': 'Name:name, Created At(date)',
  'storage.k8s.io/v1 StorageClass':
    'Name:name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age',
  'storage.k8s.io/v1 VolumeAttachment': 'Name:name, Attacher:name, PV, Node, Attached(boolean), Age',
  'storage.k8s.io/v1 VolumeAttributesClass': 'Name:name, DriverName, Age',
}

describe('heads of tables', () => {
  it.each(Object.entries(heads))('%s', (name, expected) => {
    const [apiVersion = '', kind = ''] = name.split(' ')
    const { columnDefinitions } = tableOf(definitionOf(apiVersion, kind), [], { nowMs })
    const texts = columnDefinitions.map(
      (each) =>
        `${each.name}${each.type === 'string' ? '' : `(${each.type})`}${each.format === '' ? '' : `:${each.format}`}${each.priority === 0 ? '' : '*'}`,
    )
    expect(texts.join(', ')).toBe(expected)
  })

  // A kind that comes to be served needs a line above and below.
  it('are told of every kind', () => {
    const all = builtinResources.map((each) => `${apiVersionOf(each)} ${each.kind}`)
    const inTest = new Set(cells.map(([name]) => name))
    expect(all.filter((name) => heads[name] === undefined)).toEqual([])
    expect(all.filter((name) => !inTest.has(name) && !hasOwnTest.has(name))).toEqual([])
  })
})

/** Kinds whose cells are tested beside them. */
const hasOwnTest = new Set([
  'v1 Event',
  'events.k8s.io/v1 Event',
  'v1 Pod',
  'autoscaling/v2 HorizontalPodAutoscaler',
  'autoscaling/v1 HorizontalPodAutoscaler',
])

const template = {
  metadata: { labels: { tier: 'front', app: 'web' } },
  spec: {
    containers: [
      { name: 'web', image: 'nginx:1.27' },
      { name: 'log', image: 'busybox' },
    ],
  },
}
const selector = { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'env', operator: 'In', values: ['b', 'a'] }] }
const containers = ['web,log', 'nginx:1.27,busybox']
const selectorText = 'app=web,env in (a,b)'
const created = ago(150)
const loadBalancer = (...ingress: object[]) => ({ loadBalancer: { ingress } })
const subjects = [
  { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ann' },
  { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bob' },
  { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'staff' },
  { kind: 'ServiceAccount', namespace: 'shop', name: 'robot' },
]
const condition = (type: string, status = 'True') => ({ type, status })
const job = (spec: object, status: object = {}, metadata: object = {}) => ({
  spec: { template, ...spec },
  status,
  metadata,
})

/** An object of the kind, all but what is the same for all, and its cells after the name. */
const cells: readonly (readonly [string, object, readonly unknown[]])[] = [
  ['v1 ConfigMap', { data: { a: '1', b: '2' }, binaryData: { c: 'AA==' } }, [3, '150m']],
  ['v1 ConfigMap', {}, [0, '150m']],
  ['v1 Endpoints', {}, ['<none>', '150m']],
  [
    'v1 Endpoints',
    { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }, { name: 'tls', port: 443 }] }] },
    ['10.0.0.1:80,10.0.0.1:443', '150m'],
  ],
  [
    'v1 Endpoints',
    { subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }, { port: 443 }] }] },
    ['10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more...', '150m'],
  ],
  ['v1 Endpoints', { subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] }, ['10.0.0.1', '150m']],
  ['v1 Endpoints', { subsets: [{ notReadyAddresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }, ['', '150m']],
  ['v1 LimitRange', {}, [created]],
  ['v1 Namespace', { status: { phase: 'Terminating' } }, ['Terminating', '150m']],
  ['v1 Node', {}, ['Unknown', '<none>', '150m', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>']],
  [
    'v1 Node',
    {
      metadata: {
        labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'infra', 'node-role.kubernetes.io/': '' },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [condition('Ready', 'Unknown')],
        addresses: [
          { type: 'Hostname', address: 'n1' },
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'ExternalIP', address: '192.0.2.1' },
        ],
        nodeInfo: {
          kubeletVersion: 'v1.36.0',
          osImage: 'Debian',
          kernelVersion: '6.1',
          containerRuntimeVersion: 'x://1',
        },
      },
    },
    [
      'NotReady,SchedulingDisabled',
      'infra,worker',
      '150m',
      'v1.36.0',
      '10.0.0.1',
      '192.0.2.1',
      'Debian',
      '6.1',
      'x://1',
    ],
  ],
  ['v1 PersistentVolumeClaim', {}, ['', '', '', '', '', '<unset>', '150m', '<unset>']],
  [
    'v1 PersistentVolumeClaim',
    {
      spec: { volumeName: 'pv-1', storageClassName: 'fast', volumeAttributesClassName: 'gold', volumeMode: 'Block' },
      status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] },
    },
    ['Bound', 'pv-1', '1Gi', 'RWO,ROX', 'fast', 'gold', '150m', 'Block'],
  ],
  [
    'v1 PersistentVolumeClaim',
    {
      metadata: { deletionTimestamp: ago(1) },
      spec: { resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Pending' },
    },
    ['Terminating', '', '', '', '', '<unset>', '150m', '<unset>'],
  ],
  [
    'v1 PersistentVolume',
    {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteMany', 'ReadWriteOncePod'],
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: { namespace: 'shop', name: 'data' },
        storageClassName: 'fast',
        volumeMode: 'Filesystem',
      },
      status: { phase: 'Failed', reason: 'Broken' },
    },
    ['1Gi', 'RWX,RWOP', 'Retain', 'Failed', 'shop/data', 'fast', '<unset>', 'Broken', '150m', 'Filesystem'],
  ],
  [
    'v1 PersistentVolume',
    { metadata: { deletionTimestamp: ago(1) }, status: { phase: 'Bound' } },
    ['0', '', '', 'Terminating', '', '', '<unset>', '', '150m', '<unset>'],
  ],
  ['v1 PodTemplate', { template }, ['web,log', 'nginx:1.27,busybox', 'app=web,tier=front']],
  [
    'v1 ReplicationController',
    {
      spec: { replicas: 3, selector: { tier: 'front', app: 'web' }, template },
      status: { replicas: 2, readyReplicas: 1 },
    },
    [3, 2, 1, '150m', ...containers, 'app=web,tier=front'],
  ],
  [
    'v1 ResourceQuota',
    {
      status: {
        hard: { pods: '10', 'limits.cpu': '2', 'requests.cpu': '1', 'limits.memory': '1Gi' },
        used: { pods: '1', 'limits.cpu': '500m' },
      },
    },
    ['pods: 1/10, requests.cpu: 0/1', 'limits.cpu: 500m/2, limits.memory: 0/1Gi', '150m'],
  ],
  ['v1 ResourceQuota', {}, ['', '', '150m']],
  ['v1 Secret', { type: 'Opaque', data: { a: 'AA==' } }, ['Opaque', 1, '150m']],
  ['v1 ServiceAccount', { secrets: [{ name: 'token' }] }, ['150m']],
  [
    'v1 Service',
    {
      spec: {
        type: 'ClusterIP',
        clusterIPs: ['10.96.0.1'],
        ports: [{ port: 80, protocol: 'TCP' }],
        selector: { b: '2', a: '1' },
      },
    },
    ['ClusterIP', '10.96.0.1', '<none>', '80/TCP', '150m', 'a=1,b=2'],
  ],
  [
    'v1 Service',
    {
      spec: {
        type: 'NodePort',
        clusterIPs: ['None'],
        externalIPs: ['192.0.2.1', '192.0.2.2'],
        ports: [
          { port: 53, nodePort: 30053, protocol: 'UDP' },
          { port: 80, protocol: 'TCP' },
        ],
      },
    },
    ['NodePort', 'None', '192.0.2.1,192.0.2.2', '53:30053/UDP,80/TCP', '150m', '<none>'],
  ],
  [
    'v1 Service',
    { spec: { type: 'LoadBalancer' } },
    ['LoadBalancer', '<none>', '<pending>', '<none>', '150m', '<none>'],
  ],
  [
    'v1 Service',
    {
      spec: { type: 'LoadBalancer', externalIPs: ['192.0.2.9'] },
      status: loadBalancer({ ip: '192.0.2.8' }, { hostname: 'a.example.com' }, { ip: '192.0.2.8' }),
    },
    ['LoadBalancer', '<none>', '192.0.2.8,a.example.com,192.0.2.9', '<none>', '150m', '<none>'],
  ],
  [
    'v1 Service',
    { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
    ['ExternalName', '<none>', 'db.example.com', '<none>', '150m', '<none>'],
  ],
  [
    'admissionregistration.k8s.io/v1 MutatingAdmissionPolicy',
    { spec: { mutations: [{}, {}] } },
    [2, '<unset>', '150m'],
  ],
  [
    'admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding',
    { spec: { policyName: 'p', paramRef: { name: 'limits', namespace: 'shop' } } },
    ['p', 'shop/limits', '150m'],
  ],
  ['admissionregistration.k8s.io/v1 MutatingWebhookConfiguration', { webhooks: [{}] }, [1, '150m']],
  [
    'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy',
    { spec: { validations: [{}], paramKind: { apiVersion: 'rules.example.com/v1', kind: 'Limit' } } },
    [1, 'rules.example.com/v1/Limit', '150m'],
  ],
  [
    'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'p' } },
    ['p', '<unset>', '150m'],
  ],
  [
    'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'p', paramRef: { name: 'limits' } } },
    ['p', '*/limits', '150m'],
  ],
  [
    'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'p', paramRef: { selector } } },
    [
      'p',
      '&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:env,Operator:In,Values:[b a],},},}',
      '150m',
    ],
  ],
  ['admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration', {}, [0, '150m']],
  ['apiextensions.k8s.io/v1 CustomResourceDefinition', {}, [created]],
  ['apiregistration.k8s.io/v1 APIService', {}, ['Local', 'Unknown', '150m']],
  [
    'apiregistration.k8s.io/v1 APIService',
    {
      spec: { service: { namespace: 'kube-system', name: 'metrics' } },
      status: { conditions: [{ ...condition('Available', 'False'), reason: 'MissingEndpoints' }] },
    },
    ['kube-system/metrics', 'False (MissingEndpoints)', '150m'],
  ],
  ['apps/v1 ControllerRevision', { revision: 3 }, ['<none>', 3, '150m']],
  [
    'apps/v1 ControllerRevision',
    {
      revision: 3,
      metadata: {
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'u', controller: true }],
      },
    },
    ['statefulset.apps/db', 3, '150m'],
  ],
  [
    'apps/v1 DaemonSet',
    {
      spec: {
        selector,
        template: { ...template, spec: { ...template.spec, nodeSelector: { disk: 'ssd', arch: 'arm' } } },
      },
      status: {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
    [5, 4, 3, 2, 1, 'arch=arm,disk=ssd', '150m', ...containers, selectorText],
  ],
  [
    'apps/v1 DaemonSet',
    { spec: { selector, template } },
    [0, 0, 0, 0, 0, '<none>', '150m', ...containers, selectorText],
  ],
  [
    'apps/v1 Deployment',
    {
      spec: { replicas: 3, selector, template },
      status: { readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 },
    },
    ['2/3', 1, 2, '150m', ...containers, selectorText],
  ],
  [
    'apps/v1 ReplicaSet',
    { spec: { replicas: 3, selector, template }, status: { replicas: 2, readyReplicas: 1 } },
    [3, 2, 1, '150m', ...containers, selectorText],
  ],
  [
    'apps/v1 StatefulSet',
    { spec: { replicas: 3, selector, template }, status: { readyReplicas: 2 } },
    ['2/3', '150m', ...containers],
  ],
  [
    'batch/v1 CronJob',
    { spec: { schedule: '*/5 * * * *', suspend: false, jobTemplate: { spec: { template } } } },
    ['*/5 * * * *', '<none>', 'False', 0, '<none>', '150m', ...containers, '<none>'],
  ],
  [
    'batch/v1 CronJob',
    {
      spec: {
        schedule: '@daily',
        timeZone: 'Europe/Berlin',
        suspend: true,
        jobTemplate: { spec: { template, selector } },
      },
      status: { active: [{}, {}], lastScheduleTime: ago(3) },
    },
    ['@daily', 'Europe/Berlin', 'True', 2, '3m', '150m', ...containers, selectorText],
  ],
  ['batch/v1 Job', job({ completions: 3 }), ['Running', '0/3', '', '150m', ...containers, '<none>']],
  [
    'batch/v1 Job',
    job(
      { selector, parallelism: 4 },
      { succeeded: 1, startTime: ago(5), conditions: [condition('Complete', 'False')] },
    ),
    ['Running', '1/1 of 4', '5m', '150m', ...containers, selectorText],
  ],
  [
    'batch/v1 Job',
    job(
      { parallelism: 1 },
      { startTime: ago(5), completionTime: ago(3), succeeded: 1, conditions: [condition('Complete')] },
      { deletionTimestamp: ago(1) },
    ),
    ['Complete', '1/1', '2m', '150m', ...containers, '<none>'],
  ],
  [
    'batch/v1 Job',
    job({}, { conditions: [condition('FailureTarget'), condition('Failed')] }),
    ['Failed', '0/1', '', '150m', ...containers, '<none>'],
  ],
  [
    'batch/v1 Job',
    job({}, {}, { deletionTimestamp: ago(1) }),
    ['Terminating', '0/1', '', '150m', ...containers, '<none>'],
  ],
  [
    'batch/v1 Job',
    job({}, { conditions: [condition('Suspended')] }),
    ['Suspended', '0/1', '', '150m', ...containers, '<none>'],
  ],
  [
    'batch/v1 Job',
    job({}, { conditions: [condition('FailureTarget')] }),
    ['FailureTarget', '0/1', '', '150m', ...containers, '<none>'],
  ],
  ['coordination.k8s.io/v1 Lease', { spec: { holderIdentity: 'node-1' } }, ['node-1', '150m']],
  ['coordination.k8s.io/v1 Lease', {}, ['', '150m']],
  [
    'discovery.k8s.io/v1 EndpointSlice',
    {
      addressType: 'IPv4',
      ports: [{ port: 80 }, { name: 'tls' }, {}, { port: 5 }],
      endpoints: [
        { addresses: ['10.0.0.1', '10.0.0.2'] },
        { addresses: ['10.0.0.3', '10.0.0.4'] },
        { addresses: ['10.0.0.5'] },
      ],
    },
    ['IPv4', '80,tls,* + 1 more...', '10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...', '150m'],
  ],
  ['discovery.k8s.io/v1 EndpointSlice', { addressType: 'FQDN', endpoints: [] }, ['FQDN', '<unset>', '<unset>', '150m']],
  ['networking.k8s.io/v1 IngressClass', { spec: { controller: 'example.com/c' } }, ['example.com/c', '<none>', '150m']],
  [
    'networking.k8s.io/v1 IngressClass',
    {
      spec: {
        controller: 'example.com/c',
        parameters: { apiGroup: 'k8s.example.com', kind: 'IngressParameters', name: 'lb' },
      },
    },
    ['example.com/c', 'IngressParameters.k8s.example.com/lb', '150m'],
  ],
  [
    'networking.k8s.io/v1 IngressClass',
    { spec: { controller: 'example.com/c', parameters: { kind: 'ConfigMap', name: 'lb' } } },
    ['example.com/c', 'ConfigMap/lb', '150m'],
  ],
  ['networking.k8s.io/v1 Ingress', {}, ['<none>', '*', '', '80', '150m']],
  [
    'networking.k8s.io/v1 Ingress',
    {
      spec: {
        ingressClassName: 'nginx',
        rules: [
          { host: 'a.example.com' },
          { host: 'b.example.com' },
          {},
          { host: 'c.example.com' },
          { host: 'd.example.com' },
        ],
        tls: [{}],
      },
      status: loadBalancer(
        { ip: '192.0.2.2' },
        { hostname: 'lb.example.com' },
        { ip: '192.0.2.1' },
        { ip: '192.0.2.2' },
      ),
    },
    [
      'nginx',
      'a.example.com,b.example.com,c.example.com + 2 more...',
      '192.0.2.1,192.0.2.2,lb.example.com',
      '80, 443',
      '150m',
    ],
  ],
  [
    'certificates.k8s.io/v1 CertificateSigningRequest',
    { spec: { signerName: 'example.com/own', username: 'jane', expirationSeconds: 3600 } },
    ['150m', 'example.com/own', 'jane', '60m', 'Pending'],
  ],
  [
    'certificates.k8s.io/v1 CertificateSigningRequest',
    { spec: {}, status: { conditions: [condition('Approved')], certificate: 'YQ==' } },
    ['150m', '<none>', '', '<none>', 'Approved,Issued'],
  ],
  [
    'networking.k8s.io/v1 IPAddress',
    { spec: { parentRef: { resource: 'services', namespace: 'shop', name: 'web' } } },
    ['services/shop/web'],
  ],
  [
    'networking.k8s.io/v1 IPAddress',
    { spec: { parentRef: { group: 'Gateway.example.com', resource: 'gateways', name: 'edge' } } },
    ['gateways.gateway.example.com/edge'],
  ],
  ['networking.k8s.io/v1 NetworkPolicy', { spec: { podSelector: {} } }, ['<none>', '150m']],
  ['networking.k8s.io/v1 NetworkPolicy', { spec: { podSelector: selector } }, [selectorText, '150m']],
  [
    'networking.k8s.io/v1 ServiceCIDR',
    { spec: { cidrs: ['10.0.0.0/8', 'fd00::/64'] } },
    ['10.0.0.0/8,fd00::/64', '150m'],
  ],
  ['node.k8s.io/v1 RuntimeClass', { handler: 'runc' }, ['runc', '150m']],
  [
    'policy/v1 PodDisruptionBudget',
    { spec: { minAvailable: 0 }, status: { disruptionsAllowed: 2 } },
    ['0', 'N/A', 2, '150m'],
  ],
  ['policy/v1 PodDisruptionBudget', { spec: { maxUnavailable: '30%' } }, ['N/A', '30%', 0, '150m']],
  [
    'rbac.authorization.k8s.io/v1 ClusterRoleBinding',
    { roleRef: { kind: 'ClusterRole', name: 'admin' }, subjects },
    ['ClusterRole/admin', '150m', 'ann, bob', 'staff', 'shop/robot'],
  ],
  ['rbac.authorization.k8s.io/v1 ClusterRole', {}, [created]],
  [
    'rbac.authorization.k8s.io/v1 RoleBinding',
    { roleRef: { kind: 'Role', name: 'reader' } },
    ['Role/reader', '150m', '', '', ''],
  ],
  ['rbac.authorization.k8s.io/v1 Role', {}, [created]],
  [
    'scheduling.k8s.io/v1 PriorityClass',
    { value: 1000, globalDefault: true, preemptionPolicy: 'Never' },
    [1000, true, '150m', 'Never'],
  ],
  ['scheduling.k8s.io/v1 PriorityClass', { value: -5 }, [-5, false, '150m', '']],
  [
    'flowcontrol.apiserver.k8s.io/v1 FlowSchema',
    { spec: { priorityLevelConfiguration: { name: 'low' }, matchingPrecedence: 7 } },
    ['low', 7, '<none>', '150m', '?'],
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1 FlowSchema',
    {
      spec: {
        priorityLevelConfiguration: { name: 'low' },
        matchingPrecedence: 7,
        distinguisherMethod: { type: 'ByUser' },
      },
      status: { conditions: [{ type: 'Dangling', status: 'True' }] },
    },
    ['low', 7, 'ByUser', '150m', 'True'],
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration',
    { spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 3 } } },
    ['Exempt', '<none>', '<none>', '<none>', '<none>', '150m'],
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration',
    {
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 30,
          limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
        },
      },
    },
    ['Limited', 30, 64, 8, 50, '150m'],
  ],
  ['storage.k8s.io/v1 CSIDriver', { spec: {} }, [true, false, false, '<unset>', false, '<none>', '150m']],
  ['resource.k8s.io/v1 DeviceClass', { spec: {} }, ['150m']],
  ['resource.k8s.io/v1 ResourceClaim', { spec: {} }, ['pending', '150m']],
  ['resource.k8s.io/v1 ResourceClaim', { spec: {}, status: { allocation: {} } }, ['allocated', '150m']],
  [
    'resource.k8s.io/v1 ResourceClaim',
    {
      metadata: { deletionTimestamp: created },
      spec: {},
      status: { allocation: {}, reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] },
    },
    ['deleted,allocated,reserved', '150m'],
  ],
  ['resource.k8s.io/v1 ResourceClaimTemplate', { spec: { spec: {} } }, ['150m']],
  [
    'resource.k8s.io/v1 ResourceSlice',
    { spec: { driver: 'gpu.example.com', nodeName: 'n1', pool: { name: 'p' } } },
    ['n1', 'gpu.example.com', 'p', '150m'],
  ],
  ['resource.k8s.io/v1 ResourceSlice', { spec: { driver: 'd', pool: { name: 'p' } } }, ['', 'd', 'p', '150m']],
  [
    'storage.k8s.io/v1 CSIDriver',
    {
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        storageCapacity: true,
        tokenRequests: [{ audience: 'a' }, { audience: 'b' }],
        requiresRepublish: true,
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      },
    },
    [false, true, true, 'a,b', true, 'Persistent,Ephemeral', '150m'],
  ],
  ['storage.k8s.io/v1 CSINode', { spec: { drivers: [{}, {}] } }, [2, '150m']],
  ['storage.k8s.io/v1 CSIStorageCapacity', { storageClassName: 'fast' }, [created]],
  ['storage.k8s.io/v1 StorageClass', { provisioner: 'p' }, ['p', 'Delete', 'Immediate', false, '150m']],
  [
    'storage.k8s.io/v1 StorageClass',
    {
      provisioner: 'p',
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    },
    ['p', 'Retain', 'WaitForFirstConsumer', true, '150m'],
  ],
  [
    'storage.k8s.io/v1 VolumeAttachment',
    { spec: { attacher: 'csi', nodeName: 'n1', source: { persistentVolumeName: 'pv-1' } }, status: { attached: true } },
    ['csi', 'pv-1', 'n1', true, '150m'],
  ],
  [
    'storage.k8s.io/v1 VolumeAttachment',
    { spec: { attacher: 'csi', nodeName: 'n1', source: {} } },
    ['csi', '', 'n1', false, '150m'],
  ],
  ['storage.k8s.io/v1 VolumeAttributesClass', { driverName: 'csi' }, ['csi', '150m']],
]

function rowOf(name: string, object: object): readonly unknown[] {
  const [apiVersion = '', kind = ''] = name.split(' ')
  const own = 'metadata' in object ? object.metadata : {}
  const metadata = { name: 'x', creationTimestamp: created, ...(own as object) }
  const { rows } = tableOf(definitionOf(apiVersion, kind), [{ apiVersion, kind, ...object, metadata } as never], {
    nowMs,
  })
  return rows[0]?.cells ?? []
}

describe('cells of tables', () => {
  it.each(cells)('%s %#', (name, object, expected) => {
    expect(rowOf(name, object)).toEqual(['x', ...expected])
  })

  it.each([
    ['networking.k8s.io/v1 IngressClass', 'ingressclass.kubernetes.io/is-default-class'],
    ['storage.k8s.io/v1 StorageClass', 'storageclass.kubernetes.io/is-default-class'],
    ['storage.k8s.io/v1 StorageClass', 'storageclass.beta.kubernetes.io/is-default-class'],
    ['storage.k8s.io/v1 VolumeAttributesClass', 'volumeattributesclass.alpha.kubernetes.io/is-default-class'],
  ])('%s marks the default class by %s', (name, annotation) => {
    expect(rowOf(name, { metadata: { annotations: { [annotation]: 'true' } } })[0]).toBe('x (default)')
    expect(rowOf(name, { metadata: { annotations: { [annotation]: 'false' } } })[0]).toBe('x')
  })
})

const event = {
  involvedObject: { kind: 'Pod', name: 'web', fieldPath: 'spec.containers{web}' },
  type: 'Normal',
  reason: 'Started',
  message: ' Started container web\n',
}

describe('rows of events', () => {
  it.each<[string, object, readonly unknown[]]>([
    [
      'count what happened several times',
      { firstTimestamp: ago(9), lastTimestamp: ago(4), count: 3, source: { component: 'kubelet', host: 'n1' } },
      ['4m', 'kubelet, n1', '9m', 3],
    ],
    ['are of the new form', { eventTime: ago(8), reportingComponent: 'scheduler' }, ['8m', 'scheduler', '8m', 1]],
    [
      'are of a series',
      {
        eventTime: ago(8),
        series: { count: 5, lastObservedTime: ago(1) },
        reportingComponent: 'c',
        reportingInstance: 'c-1',
      },
      ['60s', 'c, c-1', '8m', 5],
    ],
    ['say nothing of times', {}, ['<unknown>', '', '<unknown>', 1]],
  ])('%s', (_, more, [lastSeen, source, firstSeen, count]) => {
    const expected = [
      lastSeen,
      'Normal',
      'Started',
      'pod/web',
      'spec.containers{web}',
      source,
      'Started container web',
      firstSeen,
      count,
      'x',
    ]
    expect(rowOf('v1 Event', { ...event, ...more })).toEqual(expected)
  })

  it('name a kind alone where there is no object', () => {
    expect(rowOf('v1 Event', { ...event, involvedObject: { kind: 'Node' } })[3]).toBe('node')
  })
})
