import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Kubectl, manifest } from './support/kubectl.ts'
import { type Outcome, Program } from './support/program.ts'
import { compareScenarios, type Step } from './support/twins.ts'

// What kubectl has a description of its own for, told by it and by coracle. Controllers must not come in between: objects are
// such as nothing acts on, or as it settles before they are described.

let program: Program
beforeAll(async () => {
  program = await Program.start({
    args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever', '--nodes', '2'],
  })
})
afterAll(() => program[Symbol.asyncDispose]())

const object = (apiVersion: string, kind: string, name: string, fields: object, metadata: object = {}): object => ({
  apiVersion,
  kind,
  metadata: { name, ...metadata },
  ...fields,
})

const about = {
  labels: { tier: 'back', app: 'db' },
  annotations: { note: 'a note', long: 'x'.repeat(200), lines: 'one\ntwo' },
}
const storage = 'storage.k8s.io/v1'
const networking = 'networking.k8s.io/v1'
const rbac = 'rbac.authorization.k8s.io/v1'

const volumes = [
  object(
    'v1',
    'PersistentVolume',
    'pv-local-{namespace}',
    {
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: 'none',
        volumeMode: 'Filesystem',
        local: { path: '/mnt/disk' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'kubernetes.io/hostname', operator: 'In', values: ['a', 'b'] },
                  { key: 'disk', operator: 'Exists' },
                ],
              },
            ],
          },
        },
      },
    },
    about,
  ),
  object('v1', 'PersistentVolume', 'pv-host-{namespace}', {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteMany'],
      storageClassName: 'none',
      hostPath: { path: '/x', type: 'DirectoryOrCreate' },
      claimRef: { namespace: 'nowhere', name: 'data' },
    },
  }),
  object('v1', 'PersistentVolume', 'pv-csi-{namespace}', {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOncePod'],
      storageClassName: 'none',
      csi: {
        driver: 'csi.example.com',
        volumeHandle: 'h-1',
        fsType: 'ext4',
        volumeAttributes: { b: '2', a: '1', long: 'y'.repeat(200) },
      },
    },
  }),
  object('v1', 'PersistentVolume', 'pv-nfs-{namespace}', {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteMany'],
      storageClassName: 'none',
      nfs: { server: 's', path: '/' },
    },
  }),
  object('v1', 'PersistentVolume', 'pv-iscsi-{namespace}', {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'none',
      iscsi: {
        targetPortal: '10.0.0.1:3260',
        iqn: 'iqn.2020-01.com.example:x',
        lun: 1,
        portals: ['10.0.0.2:3260', '10.0.0.3:3260'],
        chapAuthSession: true,
        secretRef: { name: 's', namespace: 'n' },
      },
    },
  }),
  object('v1', 'PersistentVolume', 'pv-fc-{namespace}', {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'none',
      fc: { targetWWNs: ['a', 'b'], lun: 2 },
    },
  }),
  object('v1', 'PersistentVolume', 'pv-flex-{namespace}', {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'none',
      flexVolume: { driver: 'example.com/x', options: { b: '2', a: '1' } },
    },
  }),
]

const volumeTypes = ['local', 'host', 'csi', 'nfs', 'iscsi', 'fc', 'flex']

const claim = object(
  'v1',
  'PersistentVolumeClaim',
  'data',
  {
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'none',
      resources: { requests: { storage: '1Gi' } },
      dataSource: { kind: 'PersistentVolumeClaim', name: 'other' },
    },
  },
  about,
)

const scratch = { name: 'scratch', image: 'x' }
const pod = (name: string, spec: object, metadata: object = {}) =>
  object(
    'v1',
    'Pod',
    name,
    { spec: { terminationGracePeriodSeconds: 0, nodeSelector: { no: 'where' }, containers: [scratch], ...spec } },
    metadata,
  )

const everyVolume = pod('volumes', {
  volumes: [
    { name: 'empty', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    { name: 'plain', emptyDir: {} },
    { name: 'host', hostPath: { path: '/x' } },
    { name: 'secret', secret: { secretName: 's', optional: true } },
    { name: 'map', configMap: { name: 'm' } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'data', readOnly: true } },
    { name: 'nfs', nfs: { server: 's', path: '/' } },
    { name: 'git', gitRepo: { repository: 'r', revision: 'v' } },
    {
      name: 'own',
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { a: 'b' } },
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName: 'none',
            resources: { requests: { storage: '1Gi' } },
          },
        },
      },
    },
    { name: 'csi', csi: { driver: 'csi.example.com', readOnly: true, volumeAttributes: { a: '1' } } },
    { name: 'image', image: { reference: 'example/data:1', pullPolicy: 'Always' } },
    {
      name: 'down',
      downwardAPI: {
        items: [
          { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
          { path: 'cpu', resourceFieldRef: { containerName: 'scratch', resource: 'limits.cpu' } },
        ],
      },
    },
    {
      name: 'projected',
      projected: {
        sources: [
          { secret: { name: 's' } },
          { configMap: { name: 'm', optional: true } },
          { downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'metadata.name' } }] } },
          { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
        ],
      },
    },
    { name: 'iscsi', iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2020-01.com.example:x', lun: 1 } },
    { name: 'rbd', rbd: { monitors: ['a', 'b'], image: 'i', secretRef: { name: 's' } } },
  ],
})

const odd = pod(
  'odd',
  {
    priorityClassName: 'system-cluster-critical',
    readinessGates: [{ conditionType: 'example.com/ready' }],
    securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'p.json' } },
    topologySpreadConstraints: [
      {
        topologyKey: 'zone',
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'db' } },
      },
      { topologyKey: 'host', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' },
    ],
    initContainers: [
      { name: 'first', image: 'x', command: ['a', 'b\nc'], args: ['d'] },
      { name: 'side', image: 'x', restartPolicy: 'Always' },
    ],
    containers: [
      {
        ...scratch,
        ports: [
          { containerPort: 80, name: 'http' },
          { containerPort: 53, protocol: 'UDP' },
        ],
        resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } },
        securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
        livenessProbe: { httpGet: { path: '/live', port: 80, host: 'h' }, initialDelaySeconds: 3 },
        readinessProbe: { tcpSocket: { port: 'http' } },
        startupProbe: { exec: { command: ['a', 'b'] } },
        env: [
          { name: 'PLAIN', value: 'a' },
          { name: 'FIELD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.memory' } } },
          { name: 'SECRET', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
          { name: 'MAP', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } },
        ],
        envFrom: [{ prefix: 'P_', configMapRef: { name: 'm' } }, { secretRef: { name: 's', optional: true } }],
        volumeMounts: [
          { name: 'plain', mountPath: '/z', readOnly: true },
          { name: 'plain', mountPath: '/a', subPath: 'sub' },
        ],
      },
    ],
    volumes: [{ name: 'plain', emptyDir: {} }],
    tolerations: [
      { key: 'a', operator: 'Exists', effect: 'NoSchedule' },
      { key: 'b', value: 'c' },
      { operator: 'Exists' },
      { key: 'd', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
    ],
  },
  about,
)

const rules = [
  { apiGroups: ['', 'apps'], resources: ['pods', 'deployments/scale'], verbs: ['list', 'get'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['watch', 'get'] },
  { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a', 'b'], verbs: ['get'] },
]
const subjects = [
  { kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' },
  { kind: 'ServiceAccount', name: 'robot', namespace: 'shop' },
]

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  'storage: volumes, claims and classes': [
    ['create -f -', manifest(...volumes)],
    `wait --for=jsonpath={.status.phase}=Available ${volumeTypes.map((type) => `pv/pv-${type}-{namespace}`).join(' ')} --timeout=60s`,
    ...volumeTypes.map((type) => `describe pv pv-${type}-{namespace} --show-events=false`),
    ['create -f -', manifest(claim)],
    'wait --for=jsonpath={.status.phase}=Bound pvc/data --timeout=60s',
    'describe pvc data --show-events=false',
    [
      'create -f -',
      manifest(
        pod('user', { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] }),
        pod('another', { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] }),
      ),
    ],
    'describe pvc/data --show-events=false',
    [
      'create -f -',
      manifest(
        object(
          storage,
          'StorageClass',
          'sc-{namespace}',
          {
            provisioner: 'example.com/p',
            parameters: { b: '2', a: '1' },
            mountOptions: ['ro', 'soft'],
            allowVolumeExpansion: true,
            reclaimPolicy: 'Retain',
            volumeBindingMode: 'WaitForFirstConsumer',
            allowedTopologies: [
              {
                matchLabelExpressions: [
                  { key: 'zone', values: ['a', 'b'] },
                  { key: 'x', values: ['y'] },
                ],
              },
            ],
          },
          about,
        ),
        object(storage, 'StorageClass', 'plain-{namespace}', { provisioner: 'example.com/p' }),
        object(storage, 'VolumeAttributesClass', 'vac-{namespace}', {
          driverName: 'csi.example.com',
          parameters: { iops: '5' },
        }),
        object(storage, 'CSINode', 'csi-{namespace}', {
          spec: {
            drivers: [
              { name: 'csi.example.com', nodeID: 'n', topologyKeys: ['a', 'b'], allocatable: { count: 3 } },
              { name: 'other.example.com', nodeID: 'm' },
            ],
          },
        }),
        object(storage, 'CSINode', 'none-{namespace}', { spec: { drivers: [] } }),
      ),
    ],
    'describe sc sc-{namespace}',
    'describe sc plain-{namespace}',
    'describe vac vac-{namespace}',
    'describe csinode csi-{namespace}',
    'describe csinode none-{namespace}',
  ],
  'networking: ingresses, policies and addresses': [
    [
      'create -f -',
      manifest(
        object('v1', 'Service', 'web', {
          spec: { clusterIP: 'None', ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
        }),
        object(
          networking,
          'Ingress',
          'site',
          {
            spec: {
              ingressClassName: 'x',
              tls: [{ hosts: ['a.example.com', 'b.example.com'], secretName: 'cert' }, { hosts: ['c.example.com'] }],
              defaultBackend: { resource: { apiGroup: 'k8s.example.com', kind: 'Bucket', name: 'static' } },
              rules: [
                {
                  host: 'a.example.com',
                  http: {
                    paths: [
                      {
                        path: '/',
                        pathType: 'Prefix',
                        backend: { service: { name: 'web', port: { number: 80 } } },
                      },
                      {
                        path: '/x',
                        pathType: 'Exact',
                        backend: { service: { name: 'web', port: { name: 'http' } } },
                      },
                      {
                        path: '/y',
                        pathType: 'Exact',
                        backend: { service: { name: 'nobody', port: { number: 1 } } },
                      },
                    ],
                  },
                },
                {
                  http: {
                    paths: [{ pathType: 'ImplementationSpecific', backend: { resource: { kind: 'B', name: 'c' } } }],
                  },
                },
              ],
            },
          },
          about,
        ),
        object(networking, 'Ingress', 'plain', {
          spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
        }),
        object(networking, 'IngressClass', 'ic-{namespace}', {
          spec: {
            controller: 'example.com/c',
            parameters: { apiGroup: 'k8s.example.com', kind: 'P', name: 'n' },
          },
        }),
        object(networking, 'IngressClass', 'plain-{namespace}', { spec: { controller: 'example.com/c' } }, about),
        object(
          networking,
          'NetworkPolicy',
          'all',
          {
            spec: {
              podSelector: {
                matchLabels: { app: 'db' },
                matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['b', 'a'] }],
              },
              policyTypes: ['Ingress', 'Egress'],
              ingress: [
                {
                  from: [
                    { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.2.0.0/16'] } },
                    { namespaceSelector: { matchLabels: { a: 'b' } }, podSelector: {} },
                    { podSelector: { matchLabels: { c: 'd' } } },
                  ],
                  ports: [
                    { port: 80 },
                    { port: 'dns', protocol: 'UDP' },
                    { port: 100, endPort: 200, protocol: 'TCP' },
                    { protocol: 'SCTP' },
                  ],
                },
                {},
              ],
              egress: [{ to: [{ namespaceSelector: {} }] }],
            },
          },
          about,
        ),
        object(networking, 'NetworkPolicy', 'closed', { spec: { podSelector: {}, policyTypes: ['Ingress'] } }),
        object(networking, 'NetworkPolicy', 'shut', { spec: { podSelector: {}, policyTypes: ['Egress'] } }),
        object(networking, 'NetworkPolicy', 'open', {
          spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{}] },
        }),
        object('v1', 'Endpoints', 'manual', {
          subsets: [
            {
              addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }],
              notReadyAddresses: [{ ip: '10.0.0.3' }],
              ports: [
                { name: 'http', port: 80 },
                { name: 'dns', port: 53, protocol: 'UDP' },
              ],
            },
            { addresses: [{ ip: '10.0.0.4' }] },
          ],
        }),
        object(
          'discovery.k8s.io/v1',
          'EndpointSlice',
          'web-1',
          {
            addressType: 'IPv4',
            ports: [{ name: 'http', port: 8080 }],
            endpoints: [
              {
                addresses: ['10.0.0.1'],
                conditions: { ready: true },
                hostname: 'h',
                nodeName: 'n',
                zone: 'z',
                targetRef: { kind: 'Pod', name: 'p' },
              },
              { addresses: ['10.0.0.2'], conditions: { ready: false } },
              { addresses: ['10.0.0.3'] },
              { addresses: ['10.0.0.4'] },
              { addresses: ['10.0.0.5'] },
            ],
          },
          { labels: { 'kubernetes.io/service-name': 'web' } },
        ),
        object('discovery.k8s.io/v1', 'EndpointSlice', 'bare', { addressType: 'IPv6', endpoints: [] }),
      ),
    ],
    'describe ing site',
    'describe ingress plain',
    'describe ingressclass ic-{namespace}',
    'describe ingressclass plain-{namespace}',
    'describe netpol all',
    'describe netpol closed',
    'describe netpol shut open',
    'describe endpoints manual',
    'describe endpointslice web-1',
    'describe endpointslice bare',
    'describe service web',
    'describe servicecidr kubernetes',
    'describe ipaddress 10.96.0.1',
  ],
  'rights: roles and bindings': [
    [
      'create -f -',
      manifest(
        object(rbac, 'Role', 'reader', { rules }, about),
        object(rbac, 'Role', 'nothing', {}),
        object(rbac, 'ClusterRole', 'cr-{namespace}', {
          rules: [...rules, { nonResourceURLs: ['/metrics', '/healthz'], verbs: ['get', 'post'] }],
        }),
        object(rbac, 'RoleBinding', 'readers', {
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
          subjects,
        }),
        object(rbac, 'ClusterRoleBinding', 'crb-{namespace}', {
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        }),
      ),
    ],
    'describe role reader',
    'describe role nothing',
    'describe clusterrole cr-{namespace}',
    'describe clusterrole view',
    'describe clusterrole system:controller:job-controller',
    'describe rolebinding readers',
    'describe clusterrolebinding crb-{namespace}',
  ],
  'pods in all their parts': [
    ['create -f -', manifest(everyVolume, odd)],
    'wait --for=condition=PodScheduled=False pod volumes odd --timeout=60s',
    'describe pod volumes --show-events=false',
    'describe pod odd --show-events=false',
    [
      'create -f -',
      manifest(
        object('apps/v1', 'ReplicaSet', 'templates', {
          spec: {
            replicas: 0,
            selector: { matchLabels: { app: 'db' } },
            template: {
              metadata: about,
              spec: { ...('spec' in odd ? (odd.spec as object) : {}), priorityClassName: undefined },
            },
          },
        }),
      ),
    ],
    'describe rs templates --show-events=false',
  ],
  'classes, leases, and kinds that have no description of their own': [
    [
      'create -f -',
      manifest(
        object('scheduling.k8s.io/v1', 'PriorityClass', 'pc-{namespace}', {
          value: 1000,
          description: 'very important',
          preemptionPolicy: 'Never',
        }),
        object(
          'coordination.k8s.io/v1',
          'Lease',
          'lead',
          { spec: { holderIdentity: 'me', leaseTransitions: 3 } },
          about,
        ),
        object('node.k8s.io/v1', 'RuntimeClass', 'rc-{namespace}', { handler: 'runc' }),
        object('v1', 'PodTemplate', 'template', {
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [scratch] } },
        }),
      ),
    ],
    'describe pc pc-{namespace}',
    'describe pc system-node-critical',
    'describe lease lead',
    'describe runtimeclass rc-{namespace}',
    'describe podtemplate template',
    'describe sa default',
    'describe apiservice v1.apps',
  ],
  'what is described: names that begin so, selectors, several': [
    'create configmap one --from-literal=a=1',
    'create configmap once --from-literal=a=1',
    'create configmap two --from-literal=a=1',
    'label cm one two picked=yes',
    'describe cm on',
    'describe cm one',
    'describe cm -l picked=yes',
    'describe cm/one cm/two',
    'describe cm/nobody cm/two',
    'describe cm nobody',
    'describe secrets',
    'describe secrets -A -l no=where',
    'describe nosuch',
    'describe',
    'describe cm one -l a=b',
  ],
}

describe('coracle describe beside kubectl describe', () => {
  compareScenarios(() => program, scenarios)

  it.each<[string, readonly string[], number]>([
    ['one', ['cm/one'], 1],
    ['one of a file', ['-f', '{file}'], 1],
    ['those of several names', ['cm/one', 'cm/once'], 0],
    ['one beside a name that is not there', ['cm/one', 'cm/nobody'], 0],
    ['those whose names begin so', ['cm', 'on'], 0],
    ['one whose name begins so', ['cm', 'onc'], 0],
    ['several, where that is asked for', ['cm/one', 'cm/once', '--show-events'], 2],
  ])('shows, as kubectl 1.36, events of single objects alone: %s', async (what, args, expected) => {
    const kubectl = await Kubectl.inNewNamespace(program, `events-${what.replaceAll(/[^a-z0-9]+/g, '-')}`)
    for (const name of ['one', 'once']) await kubectl.ok(['create', 'configmap', name])
    const file = join(program.dataDir, 'one.json')
    await writeFile(file, manifest(object('v1', 'ConfigMap', 'one', {})))
    const line = args.map((arg) => arg.replace('{file}', file))
    const { stdout } = await program.coracle(['-n', kubectl.namespace, 'describe', ...line])
    expect(stdout.match(/^Events:/gm)?.length ?? 0).toBe(expected)
  })

  it.each([
    ['deployment/web', '&limit=500'],
    ['rs,pvc,node,cm,svc --chunk-size=7', '&limit=7'],
    ['namespace/default sa/default', '&limit=500'],
    ['deployment/web --chunk-size=0', ''],
  ])('asks for lists in pages as kubectl does: %s', async (what, limit) => {
    const kubectl = await Kubectl.inNewNamespace(program, `pages-${what.replaceAll(/[^a-z0-9]+/g, '-')}`)
    await kubectl.ok(['create', 'deployment', 'web', '--image=a', '--replicas=0'])
    await kubectl.ok(['create', 'service', 'clusterip', 'web', '--clusterip=None'])
    const line = ['-n', kubectl.namespace, 'describe', ...what.split(' '), '--show-events', '-v=6']
    // kubectl goes through the fields of its selectors in any order.
    const sorted = (query: string) =>
      query.replace(/(?<=fieldSelector=)[^&]*/, (fields) => fields.split('%2C').sort().join())
    const listsOf = ({ stderr }: Outcome) =>
      [...stderr.matchAll(/verb="GET" url="[^"]*\/(\w+\?[^"]*)"/g)].map(([, list = '']) => sorted(list)).sort()
    // kubectl shows the devices of nodes since 1.36.
    const ours = listsOf(await program.coracle(line)).filter((list) => !list.startsWith('resourceslices'))
    expect(ours).toEqual(listsOf(await program.kubectl(line)))
    const ends = ours.filter((list) => list.startsWith('events')).map((list) => /(&limit=\d+)?$/.exec(list)?.[0])
    expect(new Set(ends)).toEqual(new Set([limit]))
  })
})
