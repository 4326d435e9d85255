import {
  builtinResources,
  resourceClaims as claimsOfDevices,
  configMaps,
  csiNodes,
  events,
  leases,
  namespaces,
  nodes,
  type PersistentVolume,
  type Pod,
  podReferences,
  pods,
  type Resource,
  secrets,
  serviceAccounts,
  persistentVolumes as storedVolumes,
  type VolumeAttachment,
  volumeAttachments,
} from '@coracle/api'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ApiCore } from '../api-core.ts'
import type { User } from '../request.ts'
import { createAccount, pod, refusal, startTestCore, type TestCore } from '../testing/test-core.ts'
import { mirrorAnnotation, nodeLeaseNamespace } from './node-identity.ts'

const agentOf = (node: string): User => ({
  name: `system:node:${node}`,
  groups: ['system:nodes', 'system:authenticated'],
})

let test: TestCore
let core: ApiCore
beforeEach(async () => {
  test = await startTestCore({ authorizer: 'default' })
  core = test.core
})

interface Wish {
  readonly verb: string
  readonly resource: Resource
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly fieldSelector?: string
}

function may(node: string, { verb, resource, subresource = '', namespace = '', name = '', ...rest }: Wish): boolean {
  try {
    core.authorize(agentOf(node), { kind: 'resource', verb, resource, subresource, namespace, name, ...rest })
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 403 })
    return false
  }
}

const boundTo = (node: string, name: string, spec: Partial<Pod['spec']> = {}, metadata: Pod['metadata'] = {}) =>
  test.client.create(pods, pod(name, metadata, { nodeName: node, ...spec }))

const readsSecret = (name: string): Partial<Pod['spec']> => ({
  containers: [{ name: 'main', image: 'i', envFrom: [{ secretRef: { name } }] }],
})

describe('a node agent', () => {
  const inDefault = { namespace: 'default' }
  const ofLeases = { resource: leases, namespace: nodeLeaseNamespace }
  const persistentVolumes = { group: '', version: 'v1', kind: '', plural: 'persistentvolumes', namespaced: false }

  it.each<[allowed: boolean, what: string, wish: Wish]>([
    [true, 'read its own node', { verb: 'get', resource: nodes, name: 'n1' }],
    [true, 'watch its own node', { verb: 'watch', resource: nodes, name: 'n1' }],
    [false, 'read another node', { verb: 'get', resource: nodes, name: 'n2' }],
    [false, 'list nodes', { verb: 'list', resource: nodes }],
    [true, 'create a node', { verb: 'create', resource: nodes }],
    [true, 'patch a node’s status', { verb: 'patch', resource: nodes, subresource: 'status', name: 'n1' }],
    [false, 'delete its own node', { verb: 'delete', resource: nodes, name: 'n1' }],
    [false, 'delete all nodes', { verb: 'deletecollection', resource: nodes }],
    [false, 'proxy to a node', { verb: 'get', resource: nodes, subresource: 'proxy', name: 'n1' }],

    [true, 'list its pods', { verb: 'list', resource: pods, fieldSelector: 'spec.nodeName=n1' }],
    [
      true,
      'watch its pods',
      { verb: 'watch', resource: pods, fieldSelector: 'status.phase!=Failed,spec.nodeName==n1' },
    ],
    [false, 'list all pods', { verb: 'list', resource: pods }],
    [false, 'list pods of another node', { verb: 'list', resource: pods, fieldSelector: 'spec.nodeName=n2' }],
    [false, 'list pods of other nodes', { verb: 'list', resource: pods, fieldSelector: 'spec.nodeName!=n1' }],
    [false, 'list pods by what is no selector', { verb: 'list', resource: pods, fieldSelector: 'spec.nodeName' }],
    [false, 'delete all its pods', { verb: 'deletecollection', resource: pods, fieldSelector: 'spec.nodeName=n1' }],
    [true, 'read its pod', { verb: 'get', resource: pods, ...inDefault, name: 'mine' }],
    [true, 'watch its pod', { verb: 'watch', resource: pods, ...inDefault, name: 'mine' }],
    [false, 'read a pod of another node', { verb: 'get', resource: pods, ...inDefault, name: 'theirs' }],
    [false, 'read a pod of no node', { verb: 'get', resource: pods, ...inDefault, name: 'pending' }],
    [false, 'update a pod', { verb: 'update', resource: pods, ...inDefault, name: 'mine' }],
    [
      true,
      'patch a pod’s status',
      { verb: 'patch', resource: pods, subresource: 'status', ...inDefault, name: 'mine' },
    ],
    [false, 'bind a pod', { verb: 'create', resource: pods, subresource: 'binding', ...inDefault, name: 'mine' }],
    [false, 'run in its pod', { verb: 'create', resource: pods, subresource: 'exec', ...inDefault, name: 'mine' }],

    [true, 'read a secret of its pod', { verb: 'get', resource: secrets, ...inDefault, name: 'my-secret' }],
    [true, 'watch a secret of its pod', { verb: 'watch', resource: secrets, ...inDefault, name: 'my-secret' }],
    [false, 'read another secret', { verb: 'get', resource: secrets, ...inDefault, name: 'their-secret' }],
    [false, 'read a secret that no pod names', { verb: 'get', resource: secrets, ...inDefault, name: 'admin' }],
    [
      false,
      'read that secret elsewhere',
      { verb: 'get', resource: secrets, namespace: 'kube-system', name: 'my-secret' },
    ],
    [false, 'list secrets', { verb: 'list', resource: secrets, ...inDefault }],
    [false, 'list all secrets', { verb: 'list', resource: secrets }],
    [false, 'write a secret of its pod', { verb: 'update', resource: secrets, ...inDefault, name: 'my-secret' }],
    [
      false,
      'read a config map that no pod names',
      { verb: 'get', resource: configMaps, ...inDefault, name: 'my-secret' },
    ],
    [
      true,
      'make a token for its pod',
      { verb: 'create', resource: serviceAccounts, subresource: 'token', ...inDefault, name: 'default' },
    ],
    [
      false,
      'make a token for a service account of no pod of its own',
      { verb: 'create', resource: serviceAccounts, subresource: 'token', ...inDefault, name: 'admin' },
    ],
    [
      true,
      'read the service account of its pod',
      { verb: 'get', resource: serviceAccounts, ...inDefault, name: 'default' },
    ],
    [false, 'read another service account', { verb: 'get', resource: serviceAccounts, ...inDefault, name: 'admin' }],
    [false, 'list service accounts', { verb: 'list', resource: serviceAccounts, ...inDefault }],
    [false, 'read a volume', { verb: 'get', resource: persistentVolumes, name: 'any' }],

    [true, 'read the CSI drivers of its node', { verb: 'get', resource: csiNodes, name: 'n1' }],
    [true, 'write the CSI drivers of its node', { verb: 'update', resource: csiNodes, name: 'n1' }],
    [true, 'create the CSI drivers of a node', { verb: 'create', resource: csiNodes }],
    [false, 'read the CSI drivers of another node', { verb: 'get', resource: csiNodes, name: 'n2' }],
    [false, 'list the CSI drivers of nodes', { verb: 'list', resource: csiNodes }],

    [true, 'renew its lease', { verb: 'patch', ...ofLeases, name: 'n1' }],
    [true, 'create a lease among those of nodes', { verb: 'create', ...ofLeases }],
    [false, 'renew the lease of another', { verb: 'patch', ...ofLeases, name: 'n2' }],
    [false, 'list leases', { verb: 'list', ...ofLeases }],
    [false, 'take the scheduler’s lease', { verb: 'update', resource: leases, namespace: 'kube-system', name: 'n1' }],
    [false, 'create a lease elsewhere', { verb: 'create', resource: leases, namespace: 'kube-system' }],

    [true, 'create an event', { verb: 'create', resource: events, ...inDefault }],
    [false, 'delete an event', { verb: 'delete', resource: events, ...inDefault, name: 'e' }],
    [false, 'read a namespace', { verb: 'get', resource: namespaces, name: 'default' }],
  ])('may (%s): %s', async (allowed, _, wish) => {
    await createAccount(test.client, 'admin')
    await boundTo('n1', 'mine', readsSecret('my-secret'))
    await boundTo('n2', 'theirs', { ...readsSecret('their-secret'), serviceAccountName: 'admin' })
    await test.client.create(pods, pod('pending', {}, readsSecret('admin')))
    expect(may('n1', wish)).toBe(allowed)
  })

  it('may read the volume of a claim that its pod names, and no other', async () => {
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'mine' } }]
    await boundTo('n1', 'using', { volumes })
    for (const name of ['mine', 'theirs']) {
      await test.client.create<PersistentVolume>(storedVolumes, {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/srv' },
          claimRef: { namespace: 'default', name },
        },
      })
    }
    const reads = (node: string, name: string, verb = 'get') => may(node, { verb, resource: storedVolumes, name })
    expect([reads('n1', 'mine'), reads('n1', 'theirs'), reads('n2', 'mine')]).toEqual([true, false, false])
    expect([reads('n1', 'mine', 'update'), reads('n1', '', 'list')]).toEqual([false, false])
  })

  it('may read what attaches volumes to it', async () => {
    for (const [name, nodeName] of [
      ['mine', 'n1'],
      ['theirs', 'n2'],
    ] as const) {
      await test.client.create<VolumeAttachment>(volumeAttachments, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttachment',
        metadata: { name },
        spec: { attacher: 'driver.example', nodeName, source: { persistentVolumeName: 'v' } },
      })
    }
    const may1 = (name: string, verb = 'get') => may('n1', { verb, resource: volumeAttachments, name })
    expect([may1('mine'), may1('theirs'), may1('none'), may1('mine', 'update'), may1('', 'list')]).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
  })

  it('may read the secrets by which it mounts the volumes of its pods', async () => {
    const secret = (name: string) => ({ namespace: 'storage', name })
    for (const name of ['mine', 'theirs']) {
      await test.client.create<PersistentVolume>(storedVolumes, {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          csi: {
            driver: 'driver.example',
            volumeHandle: 'h',
            nodeStageSecretRef: secret(`stage-${name}`),
            nodePublishSecretRef: secret(`publish-${name}`),
            controllerPublishSecretRef: secret(`attach-${name}`),
          },
          claimRef: { namespace: 'default', name },
        },
      })
    }
    await boundTo('n1', 'using', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'mine' } }] })
    const reads = (name: string, node = 'n1', namespace = 'storage') =>
      may(node, { verb: 'get', resource: secrets, namespace, name })
    expect([reads('stage-mine'), reads('publish-mine')]).toEqual([true, true])
    expect([reads('attach-mine'), reads('stage-theirs'), reads('stage-mine', 'n2')]).toEqual([false, false, false])
    expect(reads('stage-mine', 'n1', 'default')).toBe(false)
    // Whose the volume is, it says itself; the claim need not name it yet.
    const given = { spec: { claimRef: { namespace: 'default', name: 'mine' } } }
    const taken = { spec: { claimRef: { name: 'elsewhere' } } }
    const patch = (name: string, body: object) => test.client.patch(storedVolumes, { name }, { type: 'merge', body })
    await patch('theirs', given)
    await patch('mine', taken)
    expect([reads('stage-theirs'), reads('stage-mine')]).toEqual([true, false])
    await patch('theirs', { metadata: { finalizers: null } })
    await test.client.delete(storedVolumes, { name: 'theirs' })
    expect(reads('stage-theirs')).toBe(false)
  })

  it('may delete no collection of any kind there is', () => {
    for (const resource of builtinResources) {
      expect(may('n1', { verb: 'deletecollection', resource, namespace: resource.namespaced ? 'default' : '' })).toBe(
        false,
      )
    }
  })

  it('is one by its name and its group together', () => {
    const wish = {
      kind: 'resource',
      verb: 'create',
      resource: nodes,
      subresource: '',
      namespace: '',
      name: '',
    } as const
    for (const user of [
      { name: 'system:node:n1', groups: ['system:authenticated'] },
      { name: 'n1', groups: ['system:nodes', 'system:authenticated'] },
      { name: 'system:node:', groups: ['system:nodes', 'system:authenticated'] },
    ]) {
      expect(() => core.authorize(user, wish)).toThrow(expect.objectContaining({ code: 403 }))
    }
  })

  it('is told why it may not', async () => {
    const agent = core.client(agentOf('n1'))
    expect((await refusal(agent.get(secrets, { namespace: 'default', name: 'admin' }))).message).toBe(
      'secrets "admin" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace ' +
        `"default": no relationship found between node 'n1' and this object`,
    )
  })
})

describe('what a node may read', () => {
  const mayRead = (node: string, name: string) =>
    may(node, { verb: 'get', resource: secrets, namespace: 'default', name })
  const remove = (name: string) => test.client.delete(pods, { namespace: 'default', name }, { gracePeriodSeconds: 0 })

  it('comes with the first pod and goes with the last that names it', async () => {
    expect(mayRead('n1', 's')).toBe(false)
    await boundTo('n1', 'a', readsSecret('s'))
    await boundTo('n1', 'b', readsSecret('s'))
    expect([mayRead('n1', 's'), mayRead('n2', 's')]).toEqual([true, false])
    await remove('a')
    expect(mayRead('n1', 's')).toBe(true)
    await remove('b')
    expect(mayRead('n1', 's')).toBe(false)
  })

  it('comes when a pod is bound', async () => {
    await test.client.create(pods, pod('late', {}, readsSecret('s')))
    expect(mayRead('n1', 's')).toBe(false)
    const target = { target: { kind: 'Node', name: 'n1' }, metadata: { name: 'late' } }
    await test.client.createSubresource(pods, { namespace: 'default', name: 'late' }, 'binding', target)
    expect(mayRead('n1', 's')).toBe(true)
  })

  it('stays when a pod’s status changes', async () => {
    await boundTo('n1', 'a', readsSecret('s'))
    expect(mayRead('n1', 's')).toBe(true)
    const change = { type: 'merge', body: { status: { phase: 'Running' } } } as const
    await test.client.patch(pods, { namespace: 'default', name: 'a' }, change, { subresource: 'status' })
    expect(mayRead('n1', 's')).toBe(true)
  })

  it('comes with the claims of devices that a pod’s status names, and goes with them', async () => {
    const resourceClaims = [{ name: 'gpu', resourceClaimTemplateName: 't' }]
    const key = { namespace: 'default', name: 'a' }
    const resources = { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } }
    await boundTo('n1', 'a', { resourceClaims, containers: [{ name: 'main', image: 'i', resources }] })
    const read = (name: string) => may('n1', { verb: 'get', resource: claimsOfDevices, namespace: 'default', name })
    expect(read('a-gpu')).toBe(false)
    const say = (status: object) =>
      test.client.patch(pods, key, { type: 'merge', body: { status } }, { subresource: 'status' })
    await say({ resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'a-gpu' }] })
    expect(read('a-gpu')).toBe(true)
    const requestMappings = [{ containerName: 'main', resourceName: 'example.com/gpu', requestName: 'r' }]
    await say({ extendedResourceClaimStatus: { resourceClaimName: 'a-extended', requestMappings } })
    expect([read('a-gpu'), read('a-extended')]).toEqual([true, true])
    await say({ resourceClaimStatuses: null })
    expect([read('a-gpu'), read('a-extended')]).toEqual([false, true])
    await remove('a')
    expect(read('a-extended')).toBe(false)
  })

  it('is nothing that only a mirror pod names', async () => {
    // Admission takes no such pod: it is one from before.
    test = await startTestCore({ authorizer: 'default', disabledAdmission: ['ServiceAccount'] })
    core = test.core
    await boundTo('n1', 'mirror', readsSecret('s'), { annotations: { [mirrorAnnotation]: 'hash' } })
    expect(mayRead('n1', 's')).toBe(false)
  })

  it('costs a look at its own pods, not at all there are', async () => {
    await boundTo('n1', 'a', readsSecret('s'))
    expect(mayRead('n1', 's')).toBe(true)
    test.registry(pods).storage.cache.values = () => {
      throw new Error('looked at every pod')
    }
    expect([mayRead('n1', 's'), mayRead('n1', 't')]).toEqual([true, false])
  })
})

it('finds everything a pod names', () => {
  const named = pod('web', {}, {
    serviceAccountName: 'account',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ name: 'i', image: 'i', envFrom: [{ configMapRef: { name: 'init-map' } }] }],
    containers: [
      {
        name: 'c',
        image: 'i',
        env: [
          { name: 'A', valueFrom: { secretKeyRef: { name: 'key', key: 'k' } } },
          { name: 'B', valueFrom: { configMapKeyRef: { name: 'map-key', key: 'k' } } },
        ],
      },
    ],
    volumes: [
      { name: 'a', secret: { secretName: 'volume' } },
      { name: 'b', configMap: { name: 'map-volume' } },
      { name: 'c', projected: { sources: [{ secret: { name: 'part' } }, { configMap: { name: 'map-part' } }] } },
      { name: 'd', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'e', ephemeral: {} },
      { name: 'f', csi: { driver: 'd', nodePublishSecretRef: { name: 'csi' } } },
      { name: 'g', azureFile: { secretName: 'azure', shareName: 's' } },
      { name: 'h', cephfs: { monitors: ['m'], secretRef: { name: 'ceph' } } },
      { name: 'i', rbd: { monitors: ['m'], image: 'i', secretRef: { name: 'rbd' } } },
      { name: 'j', iscsi: { targetPortal: 't', iqn: 'q', lun: 0, secretRef: { name: 'iscsi' } } },
      { name: 'k', flexVolume: { driver: 'd', secretRef: { name: 'flex' } } },
      { name: 'l', cinder: { volumeID: 'v', secretRef: { name: 'cinder' } } },
      { name: 'm', scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'scaleio' } } },
      { name: 'n', storageos: { secretRef: { name: 'storageos' } } },
    ],
  } as Partial<Pod['spec']>)
  const found = podReferences(named).map(({ plural, name }) => `${plural}/${name}`)
  expect(found.sort()).toEqual([
    ...['init-map', 'map-key', 'map-part', 'map-volume'].map((name) => `configmaps/${name}`),
    ...['claim', 'web-e'].map((name) => `persistentvolumeclaims/${name}`),
    ...[
      'azure',
      'ceph',
      'cinder',
      'csi',
      'flex',
      'iscsi',
      'key',
      'part',
      'pull',
      'rbd',
      'scaleio',
      'storageos',
      'volume',
    ].map((name) => `secrets/${name}`),
    'serviceaccounts/account',
  ])
})
