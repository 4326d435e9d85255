import { leases, type Node, nodes, type Pod, pods, serviceAccounts } from '@coracle/api'
import type { Client } from '@coracle/client'
import { beforeEach, describe, expect, it } from 'vitest'
import type { User } from '../request.ts'
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
    const attributes = { namespace: 'default', name, subresource, operation: 'CREATE', old: undefined, dryRun: false }
    const context = { user, userAgent: 'test' }
    const plugin = nodeRestriction(test.core.registries)
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

  it('a node gets tokens that are bound to a pod that is on it', async () => {
    const mine = await test.client.create(pods, pod('mine', {}, { nodeName: 'n1' }))
    const theirs = await test.client.create(pods, pod('theirs', {}, { nodeName: 'n2' }))
    const token = (boundObjectRef?: object) =>
      judge(serviceAccounts, 'token', 'default', { metadata: {}, spec: { boundObjectRef } })
    const ref = ({ metadata: { name, uid } }: Pod) => ({ apiVersion: 'v1', kind: 'Pod', name, uid })
    expect(await token(ref(mine))).toBe('admitted')
    expect(await token()).toContain('node requested token not bound to a pod')
    expect(await token({ ...ref(mine), kind: 'Secret' })).toContain('not bound to a pod')
    expect(await token({ ...ref(mine), uid: '' })).toContain('without a uid')
    expect(await token({ ...ref(mine), uid: 'earlier' })).toContain('does not match the UID in record')
    expect(await token(ref(theirs))).toContain('bound to a pod scheduled on a different node')
  })
})
