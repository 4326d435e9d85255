/** Objects that every version of upstream takes: requests are made by changing one thing of them. */
import type { JsonObject } from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'

export interface Example {
  /** Of the collection, under which the object is created. */
  readonly path: string
  readonly object: JsonObject
}

const labels = { app: 'web' }
const selector = { matchLabels: labels, matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] }
const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', memory: '512Mi' } }

const container = {
  name: 'web',
  image: 'web:1',
  command: ['serve'],
  args: ['--all'],
  workingDir: '/srv',
  ports: [{ name: 'http', containerPort: 80, hostPort: 8080, protocol: 'TCP', hostIP: '127.0.0.1' }],
  envFrom: [{ prefix: 'A_', configMapRef: { name: 'settings', optional: true } }, { secretRef: { name: 'password' } }],
  env: [
    { name: 'PLAIN', value: 'x' },
    { name: 'NODE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
    { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m', containerName: 'web' } } },
    { name: 'KEY', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a', optional: true } } },
    { name: 'SECRET', valueFrom: { secretKeyRef: { name: 'password', key: 'a' } } },
  ],
  resources,
  volumeMounts: [{ name: 'scratch', mountPath: '/scratch', readOnly: true, subPath: 'a', mountPropagation: 'None' }],
  volumeDevices: [],
  livenessProbe: {
    httpGet: { path: '/', port: 80, scheme: 'HTTP', host: '127.0.0.1', httpHeaders: [{ name: 'X-A', value: 'b' }] },
    initialDelaySeconds: 1,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  },
  readinessProbe: { exec: { command: ['true'] }, successThreshold: 2 },
  startupProbe: { tcpSocket: { port: 'http', host: '127.0.0.1' } },
  lifecycle: { postStart: { exec: { command: ['true'] } }, preStop: { httpGet: { path: '/', port: 80 } } },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  securityContext: {
    capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
    privileged: false,
    runAsUser: 1000,
    runAsGroup: 1000,
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: true,
    procMount: 'Default',
    seLinuxOptions: { user: 'u', role: 'r', type: 't', level: 'l' },
    seccompProfile: { type: 'Localhost', localhostProfile: 'a.json' },
    windowsOptions: { gmsaCredentialSpecName: 'a', runAsUserName: 'user' },
  },
  stdin: true,
  stdinOnce: true,
  tty: true,
}

const volumes = [
  { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
  { name: 'host', hostPath: { path: '/a', type: 'Directory' } },
  {
    name: 'config',
    configMap: { name: 'settings', items: [{ key: 'a', path: 'a', mode: 256 }], defaultMode: 420, optional: true },
  },
  { name: 'secret', secret: { secretName: 'password', items: [{ key: 'a', path: 'a' }], defaultMode: 420 } },
  {
    name: 'projected',
    projected: {
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { audience: 'a', expirationSeconds: 3600, path: 'token' } },
        { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        { configMap: { name: 'settings', items: [{ key: 'a', path: 'b' }] } },
        { secret: { name: 'password' } },
      ],
    },
  },
  {
    name: 'downward',
    downwardAPI: {
      items: [{ path: 'cpu', resourceFieldRef: { containerName: 'web', resource: 'limits.cpu' }, mode: 256 }],
      defaultMode: 420,
    },
  },
  { name: 'claim', persistentVolumeClaim: { claimName: 'claim', readOnly: true } },
  { name: 'nfs', nfs: { server: 's', path: '/a', readOnly: true } },
  {
    name: 'iscsi',
    iscsi: {
      targetPortal: '10.0.0.1:3260',
      iqn: 'iqn.2001-04.com.example:storage',
      lun: 1,
      fsType: 'ext4',
      initiatorName: 'iqn.2001-04.com.example:me',
      chapAuthSession: true,
      secretRef: { name: 'password' },
    },
  },
  { name: 'csi', csi: { driver: 'csi.example.com', fsType: 'ext4', nodePublishSecretRef: { name: 'password' } } },
  { name: 'fc', fc: { targetWWNs: ['a'], lun: 1, fsType: 'ext4' } },
]

const podSpec = {
  volumes,
  initContainers: [{ name: 'init', image: 'init:1', resources, terminationMessagePath: '/dev/x' }],
  containers: [container],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  activeDeadlineSeconds: 100,
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['10.0.0.1'], searches: ['example.com'], options: [{ name: 'ndots', value: '2' }] },
  nodeSelector: { disk: 'ssd' },
  serviceAccountName: 'default',
  automountServiceAccountToken: false,
  nodeName: 'n1',
  hostAliases: [{ ip: '10.0.0.1', hostnames: ['a.example.com'] }],
  shareProcessNamespace: true,
  securityContext: {
    seLinuxOptions: { level: 's0' },
    runAsUser: 1000,
    runAsGroup: 1000,
    runAsNonRoot: true,
    supplementalGroups: [1],
    fsGroup: 1,
    fsGroupChangePolicy: 'Always',
    sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }],
    seccompProfile: { type: 'RuntimeDefault' },
  },
  imagePullSecrets: [{ name: 'registry' }],
  hostname: 'web',
  subdomain: 'webs',
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          {
            matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }],
            matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }],
          },
        ],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['4'] }] } },
      ],
    },
    podAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, podAffinityTerm: { labelSelector: selector, namespaces: ['a'], topologyKey: 'zone' } },
      ],
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: selector, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  },
  schedulerName: 'default-scheduler',
  tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 10 }],
  priorityClassName: '',
  readinessGates: [{ conditionType: 'example.com/ready' }],
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
  ],
}

const { activeDeadlineSeconds: _, nodeName: __, ...templateSpec } = podSpec
const simpleSpec = { containers: [{ name: 'web', image: 'web:1' }] }
const template = { metadata: { labels, annotations: { 'example.com/a': 'b' } }, spec: simpleSpec }
const fullTemplate = { metadata: { labels }, spec: templateSpec }
const jobTemplate = { metadata: { labels }, spec: { ...simpleSpec, restartPolicy: 'Never' } }

const core = (plural: string): string => `/api/v1/namespaces/default/${plural}`
const coreOf = (plural: string): string => `/api/v1/${plural}`
const of = (group: string, plural: string): string => `/apis/${group}/namespaces/default/${plural}`
const clusterWide = (group: string, plural: string): string => `/apis/${group}/${plural}`

function example(path: string, kind: string, more: JsonObject, name = 'example'): Example {
  const [, first = '', group = '', version = ''] = path.split('/')
  const apiVersion = first === 'api' ? group : `${group}/${version}`
  return { path, object: { apiVersion, kind, metadata: { name }, ...more } }
}

const webhook = {
  name: 'a.example.com',
  clientConfig: { service: { name: 'hook', namespace: 'default', path: '/a', port: 443 }, caBundle: '' },
  rules: [
    {
      operations: ['CREATE'],
      apiGroups: ['apps'],
      apiVersions: ['v1'],
      resources: ['deployments'],
      scope: 'Namespaced',
    },
  ],
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  namespaceSelector: selector,
  objectSelector: selector,
  sideEffects: 'None',
  timeoutSeconds: 5,
  admissionReviewVersions: ['v1'],
}

const claimSpec = {
  accessModes: ['ReadWriteOnce'],
  selector,
  resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
  storageClassName: 'standard',
  volumeMode: 'Filesystem',
  volumeName: 'one',
  dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'one' },
}

const volumeSpec = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  claimRef: { namespace: 'default', name: 'claim' },
  persistentVolumeReclaimPolicy: 'Retain',
  storageClassName: 'standard',
  mountOptions: ['ro'],
  volumeMode: 'Filesystem',
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] },
  },
}
const volume = (name: string, source: JsonObject): Example =>
  example(coreOf('persistentvolumes'), 'PersistentVolume', { spec: { ...volumeSpec, ...source } }, name)

const autoscaler = {
  scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
  minReplicas: 1,
  maxReplicas: 3,
}
const schemaOfDefinition = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', format: 'int32', minimum: 1, maximum: 5, default: 1 },
        color: { type: 'string', enum: ['red', 'blue'], pattern: '^[a-z]+$', maxLength: 10 },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      },
    },
  },
}

/** The examples for an API server of upstream's 1.`minor`: kinds that were beta once are asked for as that server has them. */
export function examplesOf(minor: number): readonly Example[] {
  const stable = (path: string): string => (minor < 25 ? path : path.replace(/\/(batch|policy)\/v1beta1\//, '/$1/v1/'))
  return examples.map(({ path, object }) => {
    const apiVersion = stable(`/${String(object.apiVersion)}/`).slice(1, -1)
    return { path: stable(path), object: { ...object, apiVersion } }
  })
}

export const examples: readonly Example[] = [
  example(core('pods'), 'Pod', { metadata: { name: 'example', labels }, spec: podSpec }),
  example(core('configmaps'), 'ConfigMap', {
    metadata: {
      name: 'example',
      labels: { 'example.com/a': 'b' },
      annotations: { 'example.com/a': 'b' },
      finalizers: ['example.com/hold'],
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'b', controller: true, blockOwnerDeletion: true },
      ],
    },
    data: { a: 'b' },
    binaryData: { c: 'YQ==' },
    immutable: false,
  }),
  example(core('secrets'), 'Secret', { data: { a: 'YQ==' }, stringData: { b: 'c' }, type: 'Opaque', immutable: false }),
  example(
    core('secrets'),
    'Secret',
    { stringData: { '.dockerconfigjson': '{}' }, type: 'kubernetes.io/dockerconfigjson' },
    'docker',
  ),
  example(
    core('secrets'),
    'Secret',
    { stringData: { 'tls.crt': 'a', 'tls.key': 'b' }, type: 'kubernetes.io/tls' },
    'tls',
  ),
  example(core('services'), 'Service', {
    spec: {
      type: 'NodePort',
      selector: labels,
      ports: [
        { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP', appProtocol: 'http' },
        { name: 'dns', port: 53, targetPort: 'dns', protocol: 'UDP' },
      ],
      externalIPs: ['10.1.0.1'],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
      externalTrafficPolicy: 'Local',
      publishNotReadyAddresses: true,
    },
  }),
  example(
    core('services'),
    'Service',
    {
      spec: {
        type: 'LoadBalancer',
        ports: [{ port: 80 }],
        loadBalancerIP: '10.1.0.1',
        loadBalancerSourceRanges: ['10.0.0.0/8'],
      },
    },
    'balanced',
  ),
  example(core('services'), 'Service', { spec: { type: 'ExternalName', externalName: 'example.com' } }, 'elsewhere'),
  example(
    core('services'),
    'Service',
    { spec: { clusterIP: 'None', ports: [{ port: 80 }], selector: labels } },
    'headless',
  ),
  example(core('endpoints'), 'Endpoints', {
    subsets: [
      {
        addresses: [
          {
            ip: '10.0.0.1',
            hostname: 'a',
            nodeName: 'n1',
            targetRef: { kind: 'Pod', name: 'a', namespace: 'default' },
          },
        ],
        notReadyAddresses: [{ ip: '10.0.0.2' }],
        ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'http' }],
      },
    ],
  }),
  example(core('persistentvolumeclaims'), 'PersistentVolumeClaim', { spec: claimSpec }),
  volume('nfs', { nfs: { server: 's', path: '/a', readOnly: true } }),
  volume('local', { local: { path: '/a', fsType: 'ext4' } }),
  volume('host', { hostPath: { path: '/a', type: 'Directory' } }),
  volume('csi', {
    csi: {
      driver: 'csi.example.com',
      volumeHandle: 'a',
      readOnly: true,
      fsType: 'ext4',
      volumeAttributes: { a: 'b' },
      controllerPublishSecretRef: { name: 'a', namespace: 'b' },
      nodeStageSecretRef: { name: 'a', namespace: 'b' },
      nodePublishSecretRef: { name: 'a', namespace: 'b' },
      controllerExpandSecretRef: { name: 'a', namespace: 'b' },
    },
  }),
  volume('azure', { azureFile: { secretName: 'a', shareName: 'b', secretNamespace: 'c', readOnly: true } }),
  volume('ceph', { cephfs: { monitors: ['a'], path: '/', user: 'u', secretRef: { name: 'a', namespace: 'b' } } }),
  volume('iscsi', { iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:storage', lun: 1 } }),
  volume('scale', {
    scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'a', namespace: 'b' }, volumeName: 'v' },
  }),
  volume('rbd', { rbd: { monitors: ['a'], image: 'i', pool: 'p', user: 'u', keyring: 'k' } }),
  volume('flex', { flexVolume: { driver: 'a/b', fsType: 'ext4', options: { a: 'b' } } }),
  volume('disk', { gcePersistentDisk: { pdName: 'a', fsType: 'ext4', partition: 1 } }),
  example(core('serviceaccounts'), 'ServiceAccount', {
    secrets: [{ name: 'a' }],
    imagePullSecrets: [{ name: 'b' }],
    automountServiceAccountToken: true,
  }),
  example(core('resourcequotas'), 'ResourceQuota', {
    spec: {
      hard: { pods: '1', 'requests.cpu': '1', 'count/deployments.apps': '1' },
      scopes: ['NotTerminating'],
    },
  }),
  example(
    core('resourcequotas'),
    'ResourceQuota',
    {
      spec: {
        hard: { pods: '1' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }] },
      },
    },
    'scoped',
  ),
  example(core('limitranges'), 'LimitRange', {
    spec: {
      limits: [
        {
          type: 'Container',
          max: { cpu: '2' },
          min: { cpu: '100m' },
          default: { cpu: '1' },
          defaultRequest: { cpu: '500m' },
          maxLimitRequestRatio: { cpu: '2' },
        },
        { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
      ],
    },
  }),
  example(core('replicationcontrollers'), 'ReplicationController', {
    spec: { replicas: 1, minReadySeconds: 1, selector: labels, template },
  }),
  example(core('podtemplates'), 'PodTemplate', { template: fullTemplate }),
  example(core('events'), 'Event', {
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'b', apiVersion: 'v1', fieldPath: 'spec' },
    reason: 'Made',
    message: 'it was made',
    source: { component: 'c', host: 'h' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
    type: 'Normal',
  }),
  example(coreOf('namespaces'), 'Namespace', { spec: { finalizers: ['kubernetes'] } }),
  example(coreOf('nodes'), 'Node', {
    metadata: { name: 'example', labels: { a: 'b' } },
    spec: {
      podCIDR: '10.1.0.0/24',
      podCIDRs: ['10.1.0.0/24'],
      providerID: 'a://b',
      unschedulable: true,
      taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }],
    },
    status: {
      capacity: { cpu: '1', memory: '1Gi', pods: '10' },
      allocatable: { cpu: '1' },
      conditions: [{ type: 'Ready', status: 'True', reason: 'a', message: 'b' }],
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      images: [{ names: ['a'], sizeBytes: 1 }],
    },
  }),
  example(of('apps/v1', 'deployments'), 'Deployment', {
    spec: {
      replicas: 2,
      selector,
      template: fullTemplate,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
      minReadySeconds: 1,
      revisionHistoryLimit: 3,
      paused: true,
      progressDeadlineSeconds: 60,
    },
  }),
  example(of('apps/v1', 'replicasets'), 'ReplicaSet', {
    spec: { replicas: 1, minReadySeconds: 1, selector, template },
  }),
  example(of('apps/v1', 'daemonsets'), 'DaemonSet', {
    spec: {
      selector,
      template,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      minReadySeconds: 1,
      revisionHistoryLimit: 3,
    },
  }),
  example(of('apps/v1', 'statefulsets'), 'StatefulSet', {
    spec: {
      replicas: 1,
      selector,
      template,
      serviceName: 'web',
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
      revisionHistoryLimit: 3,
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  }),
  example(of('apps/v1', 'controllerrevisions'), 'ControllerRevision', { data: { a: 1 }, revision: 1 }),
  example(of('batch/v1', 'jobs'), 'Job', {
    spec: {
      parallelism: 2,
      completions: 8,
      activeDeadlineSeconds: 100,
      backoffLimit: 3,
      ttlSecondsAfterFinished: 10,
      template: jobTemplate,
    },
  }),
  example(of('batch/v1beta1', 'cronjobs'), 'CronJob', {
    spec: {
      schedule: '*/5 * * * *',
      startingDeadlineSeconds: 10,
      concurrencyPolicy: 'Forbid',
      suspend: true,
      jobTemplate: { metadata: { labels }, spec: { template: jobTemplate, backoffLimit: 1 } },
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 1,
    },
  }),
  example(of('autoscaling/v1', 'horizontalpodautoscalers'), 'HorizontalPodAutoscaler', {
    spec: { ...autoscaler, targetCPUUtilizationPercentage: 50 },
  }),
  example(of('networking.k8s.io/v1', 'ingresses'), 'Ingress', {
    spec: {
      ingressClassName: 'a',
      defaultBackend: { service: { name: 'web', port: { number: 80 } } },
      tls: [{ hosts: ['a.example.com'], secretName: 'tls' }],
      rules: [
        {
          host: 'a.example.com',
          http: {
            paths: [{ path: '/a', pathType: 'Prefix', backend: { service: { name: 'web', port: { name: 'http' } } } }],
          },
        },
        {
          host: '*.example.com',
          http: {
            paths: [{ path: '/', pathType: 'Exact', backend: { resource: { apiGroup: 'a.b', kind: 'C', name: 'd' } } }],
          },
        },
      ],
    },
  }),
  example(clusterWide('networking.k8s.io/v1', 'ingressclasses'), 'IngressClass', {
    spec: { controller: 'example.com/a', parameters: { apiGroup: 'a.b', kind: 'C', name: 'd' } },
  }),
  example(of('networking.k8s.io/v1', 'networkpolicies'), 'NetworkPolicy', {
    spec: {
      podSelector: selector,
      ingress: [
        {
          ports: [{ protocol: 'TCP', port: 80 }, { port: 'http' }],
          from: [
            { podSelector: selector, namespaceSelector: selector },
            { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
          ],
        },
      ],
      egress: [{ ports: [{ protocol: 'UDP', port: 53 }], to: [{ namespaceSelector: {} }] }],
      policyTypes: ['Ingress', 'Egress'],
    },
  }),
  example(of('policy/v1beta1', 'poddisruptionbudgets'), 'PodDisruptionBudget', {
    spec: { minAvailable: '50%', selector },
  }),
  example(
    of('policy/v1beta1', 'poddisruptionbudgets'),
    'PodDisruptionBudget',
    { spec: { maxUnavailable: 1, selector } },
    'other',
  ),
  example(of('rbac.authorization.k8s.io/v1', 'roles'), 'Role', {
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }],
  }),
  example(clusterWide('rbac.authorization.k8s.io/v1', 'clusterroles'), 'ClusterRole', {
    rules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }],
    aggregationRule: { clusterRoleSelectors: [selector] },
  }),
  example(of('rbac.authorization.k8s.io/v1', 'rolebindings'), 'RoleBinding', {
    subjects: [
      { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'a' },
      { kind: 'ServiceAccount', name: 'b', namespace: 'default' },
    ],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' },
  }),
  example(clusterWide('rbac.authorization.k8s.io/v1', 'clusterrolebindings'), 'ClusterRoleBinding', {
    subjects: [{ kind: 'Group', name: 'a' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'a' },
  }),
  example(clusterWide('storage.k8s.io/v1', 'storageclasses'), 'StorageClass', {
    provisioner: 'example.com/a',
    parameters: { a: 'b' },
    reclaimPolicy: 'Retain',
    mountOptions: ['ro'],
    allowVolumeExpansion: true,
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }],
  }),
  example(clusterWide('storage.k8s.io/v1', 'csidrivers'), 'CSIDriver', {
    spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] },
  }),
  example(clusterWide('storage.k8s.io/v1', 'csinodes'), 'CSINode', {
    spec: { drivers: [{ name: 'csi.example.com', nodeID: 'a', topologyKeys: ['zone'], allocatable: { count: 1 } }] },
  }),
  example(clusterWide('storage.k8s.io/v1', 'volumeattachments'), 'VolumeAttachment', {
    spec: { attacher: 'csi.example.com', nodeName: 'n1', source: { persistentVolumeName: 'a' } },
  }),
  example(clusterWide('scheduling.k8s.io/v1', 'priorityclasses'), 'PriorityClass', {
    value: 10,
    globalDefault: false,
    description: 'a',
    preemptionPolicy: 'Never',
  }),
  example(of('coordination.k8s.io/v1', 'leases'), 'Lease', {
    spec: {
      holderIdentity: 'a',
      leaseDurationSeconds: 10,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 1,
    },
  }),
  example(clusterWide('certificates.k8s.io/v1', 'certificatesigningrequests'), 'CertificateSigningRequest', {
    spec: {
      request: certificateRequests[Object.keys(certificateRequests)[0] as keyof typeof certificateRequests],
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  }),
  example(
    clusterWide('admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations'),
    'ValidatingWebhookConfiguration',
    {
      webhooks: [webhook],
    },
  ),
  example(
    clusterWide('admissionregistration.k8s.io/v1', 'mutatingwebhookconfigurations'),
    'MutatingWebhookConfiguration',
    {
      webhooks: [{ ...webhook, reinvocationPolicy: 'IfNeeded' }],
    },
  ),
  example(
    clusterWide('apiextensions.k8s.io/v1', 'customresourcedefinitions'),
    'CustomResourceDefinition',
    {
      spec: {
        group: 'example.com',
        names: {
          plural: 'widgets',
          singular: 'widget',
          shortNames: ['w'],
          kind: 'Widget',
          listKind: 'WidgetList',
          categories: ['all'],
        },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schemaOfDefinition },
            subresources: {
              status: {},
              scale: {
                specReplicasPath: '.spec.size',
                statusReplicasPath: '.status.size',
                labelSelectorPath: '.status.selector',
              },
            },
            additionalPrinterColumns: [
              { name: 'Size', type: 'integer', format: 'int32', description: 'd', priority: 1, jsonPath: '.spec.size' },
            ],
          },
          {
            name: 'v1beta1',
            served: false,
            storage: false,
            deprecated: true,
            deprecationWarning: 'old',
            schema: { openAPIV3Schema: schemaOfDefinition },
          },
        ],
        conversion: {
          strategy: 'Webhook',
          webhook: {
            clientConfig: { service: { name: 'a', namespace: 'b', path: '/c', port: 443 } },
            conversionReviewVersions: ['v1'],
          },
        },
        preserveUnknownFields: false,
      },
    },
    'widgets.example.com',
  ),
  example(
    clusterWide('apiregistration.k8s.io/v1', 'apiservices'),
    'APIService',
    {
      spec: {
        service: { name: 'a', namespace: 'b', port: 443 },
        group: 'example.org',
        version: 'v1',
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 10,
      },
    },
    'v1.example.org',
  ),
  example(clusterWide('node.k8s.io/v1', 'runtimeclasses'), 'RuntimeClass', {
    handler: 'a',
    overhead: { podFixed: { cpu: '100m' } },
    scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'a', operator: 'Exists' }] },
  }),
]
