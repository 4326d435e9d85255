import {
  configMaps,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  pods,
  type ResourceList,
  type ResourceQuota,
  type ResourceQuotaSpec,
  resourceQuotas,
  type Service,
  services,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { configMap, pod, refusal, startTestCore } from '../testing/test-core.ts'

const quotaKey = { namespace: 'default', name: 'q' }

const newQuota = (hard: ResourceList, spec: ResourceQuotaSpec = {}): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: quotaKey,
  spec: { hard, ...spec },
})

async function startWithQuota(hard: ResourceList, spec: ResourceQuotaSpec = {}, used?: ResourceList) {
  const core = await startTestCore()
  const { client } = core
  const created = await client.create(resourceQuotas, newQuota(hard, spec))
  const none = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']))
  const status = { hard, used: used ?? none }
  await client.update(resourceQuotas, { ...created, status }, { subresource: 'status' })
  const usedNow = async () => (await client.get(resourceQuotas, quotaKey)).status?.used
  return { ...core, usedNow }
}

const asking = (requests: ResourceList, limits: ResourceList = requests) =>
  ({ containers: [{ name: 'main', image: 'nginx', resources: { requests, limits } }] }) as never

describe('ResourceQuota', () => {
  it('charges what is created, and refuses what is too much', async () => {
    const { client, usedNow } = await startWithQuota({ pods: '2', 'requests.cpu': '1', 'limits.memory': '2Gi' })
    const small = asking({ cpu: '400m', memory: '512Mi' })
    await client.create(pods, pod('a', {}, small))
    expect(await usedNow()).toEqual({ pods: '1', 'requests.cpu': '400m', 'limits.memory': '512Mi' })
    expect(await refusal(client.create(pods, pod('b', {}, asking({ cpu: '700m', memory: '1Gi' }))))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message:
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=700m, used: requests.cpu=400m, limited: requests.cpu=1',
    })
    await client.create(pods, pod('c', {}, small))
    expect((await refusal(client.create(pods, pod('d', {}, asking({ cpu: '1m', memory: '1Mi' }))))).message).toBe(
      'pods "d" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    )
    expect(await usedNow()).toEqual({ pods: '2', 'requests.cpu': '800m', 'limits.memory': '1Gi' })
  })

  it('is not overdrawn by however many who come at once', async () => {
    const { client, usedNow } = await startWithQuota({ configmaps: '5' })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => client.create(configMaps, configMap(`c${index}`))),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    expect((await client.list(configMaps, { namespace: 'default' })).items).toHaveLength(5)
    expect(await usedNow()).toEqual({ configmaps: '5' })
  })

  it('lets all come through who come at once, whether they have their names or are given them', async () => {
    const { client, usedNow } = await startWithQuota({ configmaps: '200' })
    const generated = { ...configMap(''), metadata: { namespace: 'default', generateName: 'c-' } }
    const all = Array.from({ length: 120 }, (_, index) =>
      client.create(configMaps, index % 2 === 0 ? generated : configMap(`c${index}`)),
    )
    await Promise.all(all)
    expect(await usedNow()).toEqual({ configmaps: '120' })
  })

  it('lets all changes come through that take more at once', async () => {
    const { client, usedNow } = await startWithQuota({ 'services.nodeports': '100' })
    const ports = [{ port: 80 }]
    const names = Array.from({ length: 80 }, (_, index) => `s${index}`)
    const service = (name: string, type: string) =>
      ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, namespace: 'default' },
        spec: { type, ports },
      }) as Service
    for (const name of names) await client.create(services, service(name, 'ClusterIP'))
    const body = { spec: { type: 'NodePort' } }
    await Promise.all(
      names.map((name) => client.patch(services, { namespace: 'default', name }, { type: 'merge', body })),
    )
    expect(await usedNow()).toEqual({ 'services.nodeports': '80' })
  })

  it('charges nothing for what is not created', async () => {
    const { client, usedNow } = await startWithQuota({ configmaps: '5' })
    await client.create(configMaps, configMap('a'), { dryRun: true })
    await client.create(configMaps, configMap('a'))
    expect(await refusal(client.create(configMaps, configMap('a')))).toMatchObject({ reason: 'AlreadyExists' })
    expect(await usedNow()).toEqual({ configmaps: '1' })
  })

  it('wants to know of each container what is limited', async () => {
    const { client } = await startWithQuota({ 'requests.cpu': '1', 'limits.memory': '1Gi' })
    expect((await refusal(client.create(pods, pod('a')))).message).toBe(
      'pods "a" is forbidden: failed quota: q: must specify limits.memory for: main; requests.cpu for: main',
    )
  })

  it('wants nothing of containers where the pod as a whole says what it takes', async () => {
    const { client, usedNow } = await startWithQuota({ 'requests.cpu': '2' })
    const spec = { ...(asking({}) as object), resources: { requests: { cpu: '1' } } }
    await client.create(pods, pod('a', {}, spec as never))
    expect(await usedNow()).toEqual({ 'requests.cpu': '1' })
  })

  it('charges what the volume of a claim is being grown to', async () => {
    const { client, usedNow } = await startWithQuota({ 'requests.storage': '2Gi' })
    const claim = await client.create(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'a', namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })
    const grow = (storage: string) =>
      client.patch(
        persistentVolumeClaims,
        { namespace: 'default', name: 'a' },
        { type: 'merge', body: { status: { allocatedResources: { storage } } } },
        { subresource: 'status' },
      )
    await grow('2Gi')
    expect(await usedNow()).toEqual({ 'requests.storage': '2Gi' })
    expect((await refusal(grow('3Gi'))).message).toContain('exceeded quota: q, requested: requests.storage=1Gi')
    expect(claim.status?.allocatedResources).toBeUndefined()
  })

  it('counts objects of any kind', async () => {
    const { client, usedNow } = await startWithQuota({ 'count/configmaps': '1' })
    await client.create(configMaps, configMap('a'))
    expect((await refusal(client.create(configMaps, configMap('b')))).message).toBe(
      'configmaps "b" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1',
    )
    expect(await usedNow()).toEqual({ 'count/configmaps': '1' })
  })

  it('charges what an update takes more', async () => {
    const { client, usedNow } = await startWithQuota({ 'services.nodeports': '2' })
    const ports = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: 80 + index }))
    const service = (type: string, count: number) =>
      ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 's', namespace: 'default' },
        spec: { type, ports: ports(count) },
      }) as Service
    await client.create(services, service('ClusterIP', 1))
    const key = { namespace: 'default', name: 's' }
    const patch = (type: string, count: number) =>
      client.patch(services, key, { type: 'merge', body: { spec: { type, ports: ports(count) } } })
    expect(await usedNow()).toEqual({ 'services.nodeports': '0' })
    await patch('NodePort', 2)
    expect(await usedNow()).toEqual({ 'services.nodeports': '2' })
    expect((await refusal(patch('NodePort', 3))).message).toContain(
      'exceeded quota: q, requested: services.nodeports=1',
    )
  })

  it('limits claims by their class', async () => {
    const fast = 'fast.storageclass.storage.k8s.io/requests.storage'
    const { client, usedNow } = await startWithQuota({ [fast]: '2Gi', persistentvolumeclaims: '5' })
    const claim = (name: string, storageClassName: string): PersistentVolumeClaim => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '2Gi' } } },
    })
    await client.create(persistentVolumeClaims, claim('a', 'fast'))
    await client.create(persistentVolumeClaims, claim('b', 'slow'))
    expect((await refusal(client.create(persistentVolumeClaims, claim('c', 'fast')))).message).toContain(
      'exceeded quota',
    )
    expect(await usedNow()).toEqual({ [fast]: '2Gi', persistentvolumeclaims: '2' })
  })

  it.each<readonly [string, ResourceQuotaSpec, object, boolean]>([
    ['BestEffort', { scopes: ['BestEffort'] }, {}, true],
    ['NotBestEffort', { scopes: ['NotBestEffort'] }, {}, false],
    ['Terminating', { scopes: ['Terminating'] }, { activeDeadlineSeconds: 60 }, true],
    ['NotTerminating', { scopes: ['NotTerminating'] }, { activeDeadlineSeconds: 60 }, false],
    [
      'a priority class',
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
        },
      },
      { priorityClassName: 'system-node-critical' },
      true,
    ],
    [
      'another priority class',
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
        },
      },
      {},
      false,
    ],
  ])('of scope %s counts what is in it', async (_, spec, podSpec, counts) => {
    const { client, usedNow } = await startWithQuota({ pods: '1' }, spec)
    await client.create(pods, pod('a', {}, podSpec as never))
    expect(await usedNow()).toEqual({ pods: counts ? '1' : '0' })
  })

  it('limits nothing before it is known what is used, and refuses what it does not know', async () => {
    const { client } = await startTestCore()
    await client.create(resourceQuotas, newQuota({ configmaps: '0' }))
    await client.create(configMaps, configMap('a'))
    const created = await client.get(resourceQuotas, quotaKey)
    const hard = { configmaps: '9', 'count/configmaps': '9', secrets: '9' }
    await client.update(
      resourceQuotas,
      { ...created, status: { hard, used: { configmaps: '1' } } },
      { subresource: 'status' },
    )
    expect((await refusal(client.create(configMaps, configMap('b')))).message).toBe(
      'configmaps "b" is forbidden: status unknown for quota: q, resources: configmaps,count/configmaps',
    )
  })

  describe('that is being counted for the first time', () => {
    /** A quota that was read before something came, and the count that its reader would put into force. */
    async function startCounting(quota: ResourceQuota, counted: ResourceList) {
      const { client } = await startTestCore()
      const read = await client.create(resourceQuotas, quota)
      const status = { hard: counted, used: counted }
      const putIntoForce = () => client.update(resourceQuotas, { ...read, status }, { subresource: 'status' })
      return { client, read, putIntoForce }
    }
    const conflict = expect.objectContaining({ code: 409, reason: 'Conflict' })

    it('is not in force by a count that lacks what has come meanwhile', async () => {
      const { client, read, putIntoForce } = await startCounting(newQuota({ pods: '1' }), { pods: '1' })
      await client.create(pods, pod('a'))
      expect(await refusal(putIntoForce())).toEqual(conflict)
      const { metadata, ...rest } = await client.get(resourceQuotas, quotaKey)
      expect({ ...rest, metadata: { ...metadata, resourceVersion: '' } }).toEqual({
        ...read,
        metadata: { ...read.metadata, resourceVersion: '' },
      })
    })

    it('is not, either, where it limits more than before', async () => {
      const { client, usedNow } = await startWithQuota({ pods: '1' })
      const { metadata, status } = await client.get(resourceQuotas, quotaKey)
      const hard = { pods: '1', configmaps: '1' }
      const read = await client.update(resourceQuotas, { ...newQuota(hard), metadata, status } as ResourceQuota)
      await client.create(configMaps, configMap('a'))
      const counted = { ...read, status: { hard, used: { pods: '0', configmaps: '0' } } }
      expect(await refusal(client.update(resourceQuotas, counted, { subresource: 'status' }))).toEqual(conflict)
      expect(await usedNow()).toEqual({ pods: '0' })
    })

    it.each<[string, ResourceQuota]>([
      ['is of another kind', newQuota({ configmaps: '1' })],
      ['is out of its scope', newQuota({ pods: '1' }, { scopes: ['Terminating'] })],
      ['takes nothing of it', newQuota({ 'requests.cpu': '1' })],
    ])('does not mind what %s', async (_what, quota) => {
      const { client, putIntoForce } = await startCounting(quota, quota.spec?.hard ?? {})
      await client.create(pods, pod('a'))
      expect((await putIntoForce()).status?.used).toEqual(quota.spec?.hard)
    })
  })
})
