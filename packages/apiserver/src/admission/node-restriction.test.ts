import {
  type CertificateSigningRequest,
  type CsiDriver,
  type CsiNode,
  certificateSigningRequests,
  csiDrivers,
  csiNodes,
  leases,
  type Node,
  nodes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  serviceAccounts,
} from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'
import type { Client } from '@coracle/client'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Authorizer, User } from '../request.ts'
import { createServiceAccountKey } from '../security/certificates.ts'
import { mirrorAnnotation, nodeLeaseNamespace } from '../security/node-identity.ts'
import { pod, refusal, startTestCore, type TestCore } from '../testing/test-core.ts'
import { Reinvocation } from './admission.ts'
import { nodeRestriction } from './node-restriction.ts'

const user: User = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }

let test: TestCore
let agent: Client
beforeEach(async () => {
  test = await startTestCore({ authorizer: 'default' })
  agent = test.core.client(user)
})

const node = (name: string, metadata: Node['metadata'] = {}, spec: Node['spec'] = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...metadata },
  spec,
})
const merge = (body: unknown) => ({ type: 'merge', body }) as const
const inDefault = (name: string) => ({ namespace: 'default', name })
const why = async (call: Promise<unknown>) => (await refusal(call)).message

describe('its node', () => {
  it('is registered, labelled and reported on by a node agent', async () => {
    const labels = {
      'kubernetes.io/hostname': 'n1',
      'topology.kubernetes.io/zone': 'a',
      disk: 'ssd',
      'a.example/b': 'c',
    }
    await agent.create(nodes, node('n1', { labels }, { taints: [{ key: 'k', effect: 'NoSchedule' }] }))
    await agent.patch(nodes, { name: 'n1' }, merge({ metadata: { labels: { 'x.node.kubernetes.io/y': 'z' } } }))
    await agent.patch(nodes, { name: 'n1' }, merge({ status: { capacity: { cpu: '1' } } }), { subresource: 'status' })
    const { metadata, status } = await agent.get(nodes, { name: 'n1' })
    expect([metadata.labels?.['x.node.kubernetes.io/y'], status?.capacity?.cpu]).toEqual(['z', '1'])
  })

  it('is the only one it writes', async () => {
    await test.client.create(nodes, node('n2'))
    const refused = 'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"'
    expect(await why(agent.create(nodes, node('n2')))).toBe(refused)
    expect(await why(agent.patch(nodes, { name: 'n2' }, merge({ metadata: { labels: { a: 'b' } } })))).toBe(refused)
    const status = merge({ status: { capacity: { cpu: '1' } } })
    expect(await why(agent.patch(nodes, { name: 'n2' }, status, { subresource: 'status' }))).toBe(refused)
    expect(await why(agent.create(nodes, node('', { generateName: 'n1' })))).toContain('not allowed to modify node ""')
  })

  it.each([
    ['node-restriction.kubernetes.io/team', 'a'],
    ['x.node-restriction.kubernetes.io/team', 'a'],
    ['kubernetes.io/role', 'master'],
    ['node-role.kubernetes.io/control-plane', ''],
    ['scheduling.k8s.io/x', 'y'],
  ])('has no label %s from it', async (label, value) => {
    expect(await why(agent.create(nodes, node('n1', { labels: { [label]: value } })))).toBe(
      `nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: ${label}`,
    )
    await test.client.create(nodes, node('n1', { labels: { [label]: value } }))
    for (const changed of [null, 'other']) {
      expect(await why(agent.patch(nodes, { name: 'n1' }, merge({ metadata: { labels: { [label]: changed } } })))).toBe(
        `nodes "n1" is forbidden: is not allowed to modify labels: ${label}`,
      )
    }
    // What others gave it stays.
    await agent.patch(nodes, { name: 'n1' }, merge({ metadata: { labels: { own: 'x' } } }))
  })

  it('keeps its owners from it', async () => {
    await test.client.create(nodes, node('n1'))
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }]
    expect(await why(agent.patch(nodes, { name: 'n1' }, merge({ metadata: { ownerReferences } })))).toContain(
      'node "n1" is not allowed to modify ownerReferences',
    )
    await test.client.patch(nodes, { name: 'n1' }, merge({ metadata: { ownerReferences } }))
    await agent.patch(nodes, { name: 'n1' }, merge({ metadata: { annotations: { a: 'b' } } }))
  })

  it('keeps its taints and its source of configuration from it', async () => {
    await test.client.create(nodes, node('n1', {}, { taints: [{ key: 'k', effect: 'NoSchedule' }] }))
    expect(await why(agent.patch(nodes, { name: 'n1' }, merge({ spec: { taints: null } })))).toContain(
      'node "n1" is not allowed to modify taints',
    )
    const configSource = { configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'c', uid: 'd' } }
    expect(await why(agent.patch(nodes, { name: 'n1' }, merge({ spec: { configSource } })))).toContain(
      'not allowed to update configSource to a new non-nil configSource',
    )
    await test.client.delete(nodes, { name: 'n1' })
    expect(await why(agent.create(nodes, node('n1', {}, { configSource })))).toContain('non-nil configSource')
  })
})

it('keeps a node agent to the lease of its node', async () => {
  const lease = (name: string) =>
    ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: nodeLeaseNamespace },
    }) as const
  await agent.create(leases, lease('n1'))
  expect(await why(agent.create(leases, lease('n2')))).toBe(
    'leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node',
  )
})

describe('pods', () => {
  beforeEach(async () => {
    await test.client.create(nodes, node('n1'))
    await test.client.create(pods, pod('mine', {}, { nodeName: 'n1' }))
    await test.client.create(pods, pod('theirs', {}, { nodeName: 'n2' }))
  })

  it('are reported on by their own node alone', async () => {
    const status = merge({ status: { phase: 'Running' } })
    await agent.patch(pods, inDefault('mine'), status, { subresource: 'status' })
    expect(await why(agent.patch(pods, inDefault('theirs'), status, { subresource: 'status' }))).toBe(
      'pods "theirs" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself',
    )
  })

  it('name no claim of devices because their node says so: it could read whichever it names', async () => {
    const resources = { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } }
    const containers = [{ name: 'main', image: 'nginx', resources }]
    await test.client.create(pods, pod('gpu', {}, { nodeName: 'n1', containers }))
    const requestMappings = [{ containerName: 'main', resourceName: 'example.com/gpu', requestName: 'r' }]
    const extendedResourceClaimStatus = { resourceClaimName: 'of-others', requestMappings }
    const report = merge({ status: { extendedResourceClaimStatus } })
    expect(await why(agent.patch(pods, inDefault('gpu'), report, { subresource: 'status' }))).toBe(
      'pods "gpu" is forbidden: node "n1" cannot update extended resource claim status',
    )
    await test.client.patch(pods, inDefault('gpu'), report, { subresource: 'status' })
    const running = merge({ status: { phase: 'Running' } })
    await agent.patch(pods, inDefault('gpu'), running, { subresource: 'status' })
  })

  it('keep their labels when their node reports on them', async () => {
    const relabel = merge({ metadata: { labels: { app: 'web' } } })
    expect(await why(agent.patch(pods, inDefault('mine'), relabel, { subresource: 'status' }))).toContain(
      'node "n1" cannot update labels through pod status',
    )
  })

  it('are deleted by their own node alone', async () => {
    expect(await why(agent.delete(pods, inDefault('theirs'), { gracePeriodSeconds: 0 }))).toBe(
      'pods "theirs" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself',
    )
    await agent.delete(pods, inDefault('mine'), { gracePeriodSeconds: 0 })
    expect((await refusal(agent.delete(pods, inDefault('mine')))).code).toBe(404)
  })

  describe('that a node makes', () => {
    const mirror = async (changes: (made: Pod) => Pod = (made) => made) => {
      const { uid = '' } = (await test.client.get(nodes, { name: 'n1' })).metadata
      const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid, controller: true }
      const annotations = { [mirrorAnnotation]: 'hash' }
      return changes(pod('static', { annotations, ownerReferences: [owner] }, { nodeName: 'n1' }))
    }
    const withOwner = (change: object) => (made: Pod) => ({
      ...made,
      metadata: {
        ...made.metadata,
        ownerReferences: (made.metadata.ownerReferences ?? []).map((owner) => ({ ...owner, ...change })),
      },
    })
    const withSpec = (change: object) => (made: Pod) => ({ ...made, spec: { ...made.spec, ...change } })

    it('are mirrors of what it was told to run', async () => {
      expect((await agent.create(pods, await mirror())).spec.serviceAccountName).toBeUndefined()
    })

    it.each<[what: string, change: (made: Pod) => Pod, why: string]>([
      [
        'no mirror',
        (made) => ({ ...made, metadata: { ...made.metadata, annotations: {} } }),
        'pod does not have "kubernetes.io/config.mirror" annotation',
      ],
      ['of another node', withSpec({ nodeName: 'n2' }), 'can only create pods with spec.nodeName set to itself'],
      [
        'without an owner',
        (made) => ({ ...made, metadata: { ...made.metadata, ownerReferences: [] } }),
        'can only create pods with an owner reference set to itself',
      ],
      [
        'of two owners',
        (made) => {
          const owners = made.metadata.ownerReferences ?? []
          const other = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'x' }
          return { ...made, metadata: { ...made.metadata, ownerReferences: [...owners, other] } }
        },
        'with a single owner reference',
      ],
      ['of another owner', withOwner({ name: 'n2' }), 'with an owner reference set to itself'],
      ['of no controller', withOwner({ controller: false }), 'with a controller owner reference'],
      ['that hold it back', withOwner({ blockOwnerDeletion: true }), 'must not set blockOwnerDeletion'],
      ['of an earlier node', withOwner({ uid: 'earlier' }), 'UID mismatch: expected earlier got'],
      // The ServiceAccount plugin refuses these before NodeRestriction does.
      ['as somebody', withSpec({ serviceAccountName: 'admin' }), 'a mirror pod may not reference service accounts'],
      [
        'with a secret',
        withSpec({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
        'a mirror pod may not reference secrets',
      ],
      [
        'with a config map',
        withSpec({ volumes: [{ name: 'v', configMap: { name: 'm' } }] }),
        'can not create pods that reference configmaps',
      ],
      [
        'with a claim',
        withSpec({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }),
        'can not create pods that reference persistentvolumeclaims',
      ],
    ])('are never %s', async (_, change, expected) => {
      expect(await why(agent.create(pods, await mirror(change)))).toContain(expected)
    })

    it.each<[what: string, spec: object, why: string]>([
      ['as somebody', { serviceAccountName: 'admin' }, 'can not create pods that reference a service account'],
      [
        'with a secret',
        { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
        'can not create pods that reference secrets',
      ],
    ])('are never %s, whether or not accounts are looked at', async (_, spec, expected) => {
      test = await startTestCore({ authorizer: 'default', disabledAdmission: ['ServiceAccount'] })
      agent = test.core.client(user)
      await test.client.create(nodes, node('n1'))
      expect(await why(agent.create(pods, await mirror(withSpec(spec))))).toContain(expected)
    })
  })
})

/** Subresources that are none yet: whoever adds them sends their requests through admission. */
describe('on behalf of a pod', () => {
  const judge = (
    definition: typeof pods | typeof serviceAccounts,
    subresource: string,
    name: string,
    body: unknown,
  ) => {
    // Everybody may ask for tokens for "anybody".
    const roles: Authorizer = {
      refuse: (_user, attributes) =>
        attributes.kind === 'resource' &&
        attributes.verb === 'request-serviceaccounts-token-audience' &&
        attributes.resource.plural === 'anybody'
          ? undefined
          : 'no',
    }
    const attributes = { namespace: 'default', name, subresource, operation: 'CREATE', old: undefined, dryRun: false }
    const context = { user, userAgent: 'test' }
    const plugin = nodeRestriction(test.core.registries, roles)
    return why(
      (async () =>
        plugin.mutate?.({ ...attributes, definition, context } as never, body as never, new Reinvocation()))().then(
        () => {
          throw { code: 0, reason: '', message: 'admitted' }
        },
      ),
    )
  }

  it('a node evicts what is on it', async () => {
    await test.client.create(pods, pod('mine', {}, { nodeName: 'n1' }))
    await test.client.create(pods, pod('theirs', {}, { nodeName: 'n2' }))
    expect(await judge(pods, 'eviction', 'mine', { metadata: {} })).toBe('admitted')
    expect(await judge(pods, 'eviction', 'theirs', { metadata: {} })).toContain('node n1 can only evict pods')
  })

  it('a node that may get no token is not told whether there is such an account', async () => {
    const pem = createServiceAccountKey()
    test = await startTestCore({ authorizer: 'default', serviceAccountKey: async () => pem })
    agent = test.core.client(user)
    const key = { namespace: 'default', name: 'gone' }
    await test.client.create(serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: key,
    })
    await test.client.create(pods, pod('mine', {}, { nodeName: 'n1', serviceAccountName: 'gone' }))
    await test.client.delete(serviceAccounts, key)
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: { audiences: [] } }
    const asked = agent.createSubresource(serviceAccounts, key, 'token', body)
    expect(await why(asked)).toContain('node requested token not bound to a pod')
  })

  it('a node gets tokens that are bound to a pod that is on it', async () => {
    const volumes = [tokenVolume('own')]
    const mine = await test.client.create(pods, pod('mine', {}, { nodeName: 'n1', volumes }))
    const theirs = await test.client.create(pods, pod('theirs', {}, { nodeName: 'n2', volumes }))
    const token = (boundObjectRef?: object) =>
      judge(serviceAccounts, 'token', 'default', { metadata: {}, spec: { audiences: [], boundObjectRef } })
    expect(await token(ref(mine))).toBe('admitted')
    expect(await token()).toContain('node requested token not bound to a pod')
    expect(await token({ ...ref(mine), kind: 'Secret' })).toContain('not bound to a pod')
    expect(await token({ ...ref(mine), uid: '' })).toContain('without a uid')
    expect(await token({ ...ref(mine), uid: 'earlier' })).toContain('does not match the UID in record')
    expect(await token(ref(theirs))).toContain('bound to a pod scheduled on a different node')
  })

  it('a node gets tokens for whom the pod has one in a volume, its CSI driver gets one, or a role allows', async () => {
    await test.client.create<CsiDriver>(csiDrivers, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: 'driver.example' },
      spec: { tokenRequests: [{ audience: 'vault-of-driver' }] },
    })
    await boundVolume('data', { csi: { driver: 'driver.example', volumeHandle: 'h' } })
    const volumes = [
      tokenVolume('own'),
      tokenVolume('vault', 'vault'),
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    ]
    const mine = await test.client.create(pods, pod('mine', {}, { nodeName: 'n1', volumes }))
    const plain = await test.client.create(pods, pod('plain', {}, { nodeName: 'n1' }))
    const token = (of: Pod, ...audiences: string[]) =>
      judge(serviceAccounts, 'token', 'default', { metadata: {}, spec: { audiences, boundObjectRef: ref(of) } })
    for (const audience of ['vault', 'vault-of-driver', 'anybody']) expect(await token(mine, audience)).toBe('admitted')
    expect(await token(mine)).toBe('admitted')
    // A request is judged as it was sent: one that names the API server's own audience is not one without audiences.
    expect(await token(mine, 'https://kubernetes.default.svc.cluster.local')).toContain('not found in pod spec volume')
    expect(await token(plain, 'anybody')).toBe('admitted')
    expect(await token(mine, 'vault', 'anybody')).toContain('node may only request 0 or 1 audiences')
    for (const audience of ['vault', 'vault-of-driver']) {
      expect(await token(plain, audience)).toBe(
        `serviceaccounts "default" is forbidden: audience "${audience}" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience`,
      )
    }
  })

  it('a node is told what is not there of what its pod names, where that could get it a token', async () => {
    const claim = (claimName: string) => ({ name: claimName, persistentVolumeClaim: { claimName } })
    const inline = { name: 'inline', csi: { driver: 'gone.example' } }
    const token = async (volumes: readonly object[], audience: string) => {
      const spec = { nodeName: 'n1', volumes: volumes as Pod['spec']['volumes'] }
      const of = await test.client.create(pods, pod(`p${audience}`, {}, spec))
      return judge(serviceAccounts, 'token', 'default', {
        metadata: {},
        spec: { audiences: [audience], boundObjectRef: ref(of) },
      })
    }
    const told = (audience: string, why: string) =>
      `serviceaccounts "default" is forbidden: error validating audience "${audience}": ${why}`
    await test.client.create<PersistentVolumeClaim>(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'waiting', namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })
    const noDriver = 'csidriver.storage.k8s.io "gone.example" not found'
    expect(await token([inline], 'a')).toBe(told('a', noDriver))
    expect(await token([claim('gone')], 'b')).toBe(told('b', 'persistentvolumeclaim "gone" not found'))
    expect(await token([claim('waiting')], 'c')).toBe(told('c', 'persistentvolume "" not found'))
    expect(await token([inline, { ...inline, name: 'other' }, claim('gone')], 'd')).toBe(
      told('d', `[${noDriver}, persistentvolumeclaim "gone" not found]`),
    )
    expect(await token([inline, tokenVolume('own', 'e')], 'e')).toBe('admitted')
  })

  it('a node gets tokens for CSI drivers that have taken over volumes of its pods', async () => {
    await test.client.create<CsiDriver>(csiDrivers, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: 'file.csi.azure.com' },
      spec: { tokenRequests: [{ audience: 'vault-of-driver' }] },
    })
    const azureFile = { shareName: 'share', secretName: 'secret' }
    await boundVolume('data', { azureFile })
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    for (const each of [volumes, [{ name: 'inline', azureFile }]]) {
      const of = await test.client.create(pods, pod(`uses-${each[0]?.name}`, {}, { nodeName: 'n1', volumes: each }))
      const spec = { audiences: ['vault-of-driver'], boundObjectRef: ref(of) }
      expect(await judge(serviceAccounts, 'token', 'default', { metadata: {}, spec })).toBe('admitted')
    }
  })
})

const ref = ({ metadata: { name, uid } }: Pod) => ({ apiVersion: 'v1', kind: 'Pod', name, uid })

const tokenVolume = (name: string, audience?: string) => ({
  name,
  projected: { sources: [{ serviceAccountToken: { path: 'token', ...(audience === undefined ? {} : { audience }) } }] },
})

async function boundVolume(name: string, source: PersistentVolume['spec']): Promise<void> {
  const resources = { requests: { storage: '1Gi' } }
  await test.client.create<PersistentVolumeClaim>(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: inDefault(name),
    spec: { accessModes: ['ReadWriteOnce'], resources, volumeName: name },
  })
  await test.client.create<PersistentVolume>(persistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'default', name },
      ...source,
    },
  })
}

describe('of claims that its pods use, a node', () => {
  const patchStatus = (body: object) =>
    agent.patch(persistentVolumeClaims, inDefault('data'), merge(body), { subresource: 'status' })

  it('says how large they have become, and nothing else', async () => {
    await boundVolume('data', { hostPath: { path: '/srv' } })
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    await test.client.create(pods, pod('mine', {}, { nodeName: 'n1', volumes }))
    await patchStatus({
      status: { capacity: { storage: '2Gi' }, conditions: [{ type: 'Resizing', status: 'True' }] },
    })
    const { status } = await test.client.get(persistentVolumeClaims, inDefault('data'))
    expect([status?.capacity?.storage, status?.conditions?.[0]?.type]).toEqual(['2Gi', 'Resizing'])
    const refused = 'node "n1" is not allowed to update fields other than status.quantity and status.conditions'
    expect(await why(patchStatus({ metadata: { labels: { a: 'b' } } }))).toContain(refused)
    expect(await why(patchStatus({ status: { phase: 'Lost' } }))).toContain(refused)
  })
})

it('keeps a node agent to the CSI drivers of its node', async () => {
  const csiNode = (name: string): CsiNode => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name },
    spec: { drivers: [] },
  })
  await agent.create(csiNodes, csiNode('n1'))
  const drivers = [{ name: 'driver.example', nodeID: 'i', topologyKeys: [] }]
  expect((await agent.patch(csiNodes, { name: 'n1' }, merge({ spec: { drivers } }))).spec.drivers).toHaveLength(1)
  expect(await why(agent.create(csiNodes, csiNode('n2')))).toBe(
    'csinodes.storage.k8s.io "n2" is forbidden: can only access CSINode with the same name as the requesting node',
  )
  await agent.delete(csiNodes, { name: 'n1' })
})

describe('certificates', () => {
  const asksFor = (signerName: string, request: string): CertificateSigningRequest => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'csr-' },
    spec: { signerName, request, usages: ['digital signature', 'client auth'] },
  })
  const ofNode1 = () => test.core.client({ ...user, name: 'system:node:node-1' })

  it.each([
    ['kubernetes.io/kube-apiserver-client-kubelet', certificateRequests.node],
    ['kubernetes.io/kubelet-serving', certificateRequests.nodeServing],
  ])('of %s a node asks for itself', async (signer, request) => {
    const own = { ...asksFor(signer, request) }
    if (signer.endsWith('serving'))
      Object.assign(own, { spec: { ...own.spec, usages: ['digital signature', 'server auth'] } })
    await ofNode1().create(certificateSigningRequests, own)
    expect(await why(agent.create(certificateSigningRequests, own))).toBe(
      'certificatesigningrequests.certificates.k8s.io "csr-" is forbidden: can only create a node CSR with CN=system:node:n1',
    )
  })

  it('are not asked for by what is no request', async () => {
    const none = asksFor('kubernetes.io/kubelet-serving', Buffer.from('no request').toString('base64'))
    expect(await why(agent.create(certificateSigningRequests, none))).toContain('is forbidden: unable to parse csr: ')
  })

  it('of other signers are theirs to judge', async () => {
    await agent.create(certificateSigningRequests, asksFor('example.com/any', certificateRequests.jane))
  })
})
