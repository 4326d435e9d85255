import {
  compile,
  configMaps,
  csiDrivers,
  type Deployment,
  deployments,
  endpointSlices,
  flowSchemas,
  type KubernetesObject,
  leases,
  type ObjectMeta,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  priorityLevelConfigurations,
  type ReplicationController,
  type Resource,
  replicationControllers,
  serviceCidrs,
  validatingAdmissionPolicies,
  volumeAttachments,
} from '@coracle/api'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { admin, configMap, pod, refusal, startTestCore } from '../testing/test-core.ts'

const key = { namespace: 'default', name: 'a' }
const writeOptions = { dryRun: false, fieldManager: 'test', fieldValidation: 'Warn' } as const

const deploymentSpec = {
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
}

function controller(name: string, replicas = 1): ReplicationController {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, namespace: 'default' },
    spec: { replicas, selector: { app: 'web' }, template },
  } as ReplicationController
}

describe('update', () => {
  it('replaces the object and keeps its identity', async () => {
    const { client } = await startTestCore()
    const old = await client.create(configMaps, configMap('a', { key: 'old' }))
    const changed = await client.update(configMaps, configMap('a', { key: 'new' }))
    expect(changed.data).toEqual({ key: 'new' })
    expect(changed.metadata.uid).toBe(old.metadata.uid)
    expect(changed.metadata.creationTimestamp).toBe(old.metadata.creationTimestamp)
    expect(Number(changed.metadata.resourceVersion)).toBeGreaterThan(Number(old.metadata.resourceVersion))
  })

  it('shows what it refuses as the structs that upstream has', async () => {
    const { client } = await startTestCore()
    const attachment = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: 'a' },
      spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } },
    } as const
    const { metadata } = await client.create(volumeAttachments, attachment)
    const changed = { ...attachment, metadata, spec: { ...attachment.spec, nodeName: 'm' } }
    expect(await refusal(client.update(volumeAttachments, changed))).toMatchObject({
      message: expect.stringContaining(
        'spec: Invalid value: {"Attacher":"a","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable',
      ),
    })
  })

  it('writes nothing where nothing changes', async () => {
    const { client, store } = await startTestCore()
    const old = await client.create(pods, pod('a'))
    const before = await store.latest()
    expect(await client.update(pods, pod('a', {}, old.spec))).toBe(old)
    expect(await store.latest()).toBe(before)
  })

  it('refuses an old resourceVersion', async () => {
    const { client } = await startTestCore()
    const old = await client.create(configMaps, configMap('a'))
    await client.update(configMaps, { ...old, data: { by: 'first' } })
    expect(await refusal(client.update(configMaps, { ...old, data: { by: 'second' } }))).toEqual({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    })
  })

  it('lets one of two updates from the same version through', async () => {
    const { client } = await startTestCore()
    const old = await client.create(configMaps, configMap('a'))
    const both = await Promise.allSettled(
      ['one', 'two'].map((by) => client.update(configMaps, { ...old, data: { by } })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('refuses an update meant for an earlier object of the same name', async () => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const { metadata } = await client.get(configMaps, key)
    for (const [name, found] of [
      ['a', metadata.uid],
      ['gone', ''],
    ]) {
      const meant = configMap(name ?? '', {}, { uid: 'earlier' })
      expect(await refusal(client.update(configMaps, meant))).toEqual({
        code: 409,
        reason: 'Conflict',
        message:
          `Operation cannot be fulfilled on configmaps "${name}": StorageError: invalid object, Code: 4, ` +
          `Key: /registry/configmaps/default/${name}, ResourceVersion: 0, AdditionalErrorMsg: ` +
          `Precondition failed: UID in precondition: earlier, UID in object meta: ${found}`,
      })
    }
  })

  it.each([
    ['abc', 'invalid syntax'],
    ['-1', 'invalid syntax'],
    ['99999999999999999999', 'value out of range'],
  ])('fails as upstream does for the resourceVersion %j', async (resourceVersion, why) => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const failed = { code: 500, reason: '', message: `strconv.ParseUint: parsing "${resourceVersion}": ${why}` }
    expect(await refusal(client.update(configMaps, configMap('a', {}, { resourceVersion })))).toEqual(failed)
    const body = { metadata: { resourceVersion } }
    expect(await refusal(client.patch(configMaps, key, { type: 'merge', body }))).toEqual(failed)
  })

  it('takes a resourceVersion of 64 bits for one that is not the stored one', async () => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const ahead = configMap('a', {}, { resourceVersion: '9007199254740993' })
    expect(await refusal(client.update(configMaps, ahead))).toMatchObject({ code: 409, reason: 'Conflict' })
  })

  it('may not mark an object as deleted', async () => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const marks = { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 9 }
    const { code, message } = await refusal(client.update(configMaps, configMap('a', {}, marks)))
    expect(code).toBe(422)
    expect(message).toMatch(/deletionTimestamp: .*immutable.*deletionGracePeriodSeconds: .*immutable/)
  })

  it('refuses a body that is not the object of the URL', async () => {
    const { registry } = await startTestCore()
    await registry(configMaps).create(admin, 'default', configMap('a'), writeOptions)
    const update = (body: unknown) => registry(configMaps).update(admin, 'default', 'a', '', body, writeOptions)
    expect((await refusal(update(configMap('b')))).message).toBe(
      'the name of the object (b) does not match the name on the URL (a)',
    )
    expect((await refusal(update(configMap('a', {}, { namespace: 'other' })))).message).toBe(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  })

  it('answers 404 where nothing is, but creates what may be created by PUT', async () => {
    const { client, registry } = await startTestCore()
    expect((await refusal(client.update(configMaps, configMap('a')))).message).toBe('configmaps "a" not found')
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec: {} }
    const { created } = await registry(leases).update(admin, 'default', 'a', '', lease, writeOptions)
    expect(created).toBe(true)
    expect((await refusal(client.update(leases, lease as never))).message).toBe(
      'leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    )
  })

  it('leaves the status as it was and raises the generation for what is wanted only', async () => {
    const { client } = await startTestCore()
    const created = await client.create(replicationControllers, controller('a'))
    const relabelled = await client.update(replicationControllers, {
      ...created,
      metadata: { ...created.metadata, labels: { x: 'y' } },
      status: { replicas: 99 },
    })
    expect(relabelled.metadata.generation).toBe(1)
    expect(relabelled.status?.replicas ?? 0).toBe(0)
    const scaled = await client.update(replicationControllers, {
      ...relabelled,
      spec: { ...relabelled.spec, replicas: 5 },
    })
    expect(scaled.metadata.generation).toBe(2)
  })

  it('counts annotations of a deployment as what is wanted: they go on to its replica sets', async () => {
    const { client } = await startTestCore()
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
    const created = await client.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } }, template },
    } as Deployment)
    const withMetadata = (metadata: ObjectMeta) =>
      client.update(deployments, { ...created, metadata: { ...created.metadata, resourceVersion: '', ...metadata } })
    expect((await withMetadata({ labels: { x: 'y' } })).metadata.generation).toBe(1)
    expect((await withMetadata({ annotations: { a: 'b' } })).metadata.generation).toBe(2)
  })

  it('counts labels of an endpoint slice as what is wanted: they say whose endpoints they are', async () => {
    const { client } = await startTestCore()
    const created = await client.create(endpointSlices, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'a', namespace: 'default' },
      addressType: 'IPv4',
    })
    const withMetadata = (metadata: ObjectMeta) =>
      client.update(endpointSlices, { ...created, metadata: { ...created.metadata, resourceVersion: '', ...metadata } })
    expect((await withMetadata({ annotations: { a: 'b' } })).metadata.generation).toBe(1)
    expect((await withMetadata({ labels: { x: 'y' } })).metadata.generation).toBe(2)
  })

  it('counts changes of a driver from none on', async () => {
    const { client } = await startTestCore()
    const created = await client.create(csiDrivers, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: 'a.example.com' },
      spec: {},
    })
    expect(created.metadata.generation).toBeUndefined()
    const relabelled = await client.update(csiDrivers, {
      ...created,
      metadata: { ...created.metadata, labels: { x: 'y' } },
    })
    expect(relabelled.metadata.generation).toBeUndefined()
    const spec = { ...relabelled.spec, requiresRepublish: true }
    expect((await client.update(csiDrivers, { ...relabelled, spec })).metadata.generation).toBe(1)
  })

  it('shares with the old object what has not changed', async () => {
    const { client } = await startTestCore()
    const created = await client.create(pods, pod('a'))
    const changed = await client.update(pods, { ...created, metadata: { ...created.metadata, labels: { x: 'y' } } })
    expect(changed.spec).toBe(created.spec)
    expect(changed.status).toBe(created.status)
  })

  it('decodes only what has changed of an object that comes back in process', async () => {
    const { client } = await startTestCore()
    const { spec } = pod('a')
    const [container] = spec.containers
    const containers = Array.from({ length: 50 }, (_, index) => ({ ...container, name: `main-${index}` }))
    const created = await client.create(pods, pod('a', {}, { ...spec, containers } as typeof spec))
    const decode = vi.spyOn(compile(pods.schema), 'decode')
    onTestFinished(() => decode.mockRestore())
    await client.update(pods, { ...created, status: { phase: 'Running' } } as Pod, { subresource: 'status' })
    const [decoded] = decode.mock.results.map(({ value }) => value)
    expect(decoded?.valuesCount).toBeLessThan(10)
  })

  it('finds nothing to write in a dry run, but says what it would be', async () => {
    const { client, store } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const before = await store.latest()
    expect((await client.update(configMaps, configMap('a', { x: 'y' }), { dryRun: true })).data).toEqual({ x: 'y' })
    expect(await store.latest()).toBe(before)
  })

  it('takes no new finalizers once an object is being deleted', async () => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a', {}, { finalizers: ['example.com/hold'] }))
    await client.delete(configMaps, key)
    const held = await client.get(configMaps, key)
    const update = client.update(configMaps, {
      ...held,
      metadata: { ...held.metadata, finalizers: ['example.com/hold', 'example.com/more'] },
    })
    const { code, message } = await refusal(update)
    expect(code).toBe(422)
    expect(message).toContain('metadata.finalizers: Forbidden: no new finalizers can be added')
  })
})

describe('status', () => {
  it('is all that its subresource changes, beside metadata', async () => {
    const { client } = await startTestCore()
    const created = await client.create(replicationControllers, controller('a', 3))
    const update = { ...created, spec: { ...created.spec, replicas: 9 }, status: { replicas: 2 } }
    const changed = await client.update(replicationControllers, update, { subresource: 'status' })
    expect(changed.status?.replicas).toBe(2)
    expect(changed.spec).toBe(created.spec)
    expect(changed.metadata.generation).toBe(1)
  })

  it('is validated', async () => {
    const { client } = await startTestCore()
    const created = await client.create(replicationControllers, controller('a'))
    const wrong = client.update(
      replicationControllers,
      { ...created, status: { replicas: -1 } },
      { subresource: 'status' },
    )
    expect((await refusal(wrong)).message).toContain('status.replicas: Invalid value: -1')
  })
})

describe('whoever writes the status alone', () => {
  it('is warned of nothing that is in the rest of the object', async () => {
    const { client, registry } = await startTestCore()
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'slow' }
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } as const
    const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v', annotations }, spec } as const
    await client.create(persistentVolumes, volume)
    const written = { ...volume, status: { phase: 'Available' } }
    const update = (subresource: string) =>
      registry(persistentVolumes).update(admin, '', 'v', subresource, written, writeOptions)
    expect((await update('status')).warnings).toEqual([])
    expect((await update('')).warnings).toEqual([expect.stringContaining('storage-class')])
  })

  it('is warned of addresses that are not written as usual', async () => {
    const { client, registry } = await startTestCore()
    const created = await client.create(pods, pod('a'))
    const status = { phase: 'Running', podIP: 'FD00::1', podIPs: [{ ip: 'FD00::1' }] }
    const { warnings } = await registry(pods).update(
      admin,
      'default',
      'a',
      'status',
      { ...created, status },
      writeOptions,
    )
    expect(warnings).toEqual([expect.stringMatching(/^status\.podIPs\[0\]\.ip: IPv6 address "FD00::1" should be in/)])
  })
})

describe('patch', () => {
  const patches = [
    { type: 'json', body: [{ op: 'add', path: '/metadata/labels', value: { x: 'y' } }] },
    { type: 'merge', body: { metadata: { labels: { x: 'y' } } } },
    { type: 'strategic', body: { metadata: { labels: { x: 'y' } } } },
  ] as const
  it.each(patches)('changes an object by a $type patch', async (patch) => {
    const { client } = await startTestCore()
    const created = await client.create(pods, pod('a'))
    const patched = await client.patch(pods, key, patch)
    expect(patched.metadata.labels).toEqual({ x: 'y' })
    expect(patched.spec).toEqual(created.spec)
  })

  it('merges containers by name in a strategic patch', async () => {
    const { client } = await startTestCore()
    await client.create(
      pods,
      pod(
        'a',
        {},
        {
          containers: [
            { name: 'one', image: 'x' },
            { name: 'two', image: 'x' },
          ] as never,
        },
      ),
    )
    const body = { spec: { containers: [{ name: 'two', image: 'y' }] } }
    const patched = await client.patch(pods, key, { type: 'strategic', body })
    expect(patched.spec.containers.map(({ name, image }) => `${name} ${image}`)).toEqual(['one x', 'two y'])
  })

  it('is applied again where another write comes first', async () => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a', { zero: '0' }))
    const fields = Array.from({ length: 20 }, (_, index) => `f${index}`)
    await Promise.all(
      fields.map((field) => client.patch(configMaps, key, { type: 'merge', body: { data: { [field]: '1' } } })),
    )
    expect(Object.keys((await client.get(configMaps, key)).data ?? {})).toHaveLength(21)
  })

  it('that names a version applies to that version only', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(configMaps, configMap('a'))
    await client.patch(configMaps, key, { type: 'merge', body: { data: { x: '1' } } })
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, data: { x: '2' } }
    expect((await refusal(client.patch(configMaps, key, { type: 'merge', body }))).reason).toBe('Conflict')
  })

  it.each([
    ['what it makes invalid', { metadata: { labels: { x: '-' } } }, 422, 'metadata.labels: Invalid value: "-"'],
    [
      'another name',
      { metadata: { name: 'b' } },
      400,
      'the name of the object (b) does not match the name on the URL (a)',
    ],
    ['a wrong type', { data: { x: 1 } }, 422, 'patch: Invalid value:'],
    ['another uid', { metadata: { uid: 'other' } }, 422, 'metadata.uid: Invalid value: "other": field is immutable'],
    ['another kind', { kind: 'Pod' }, 422, 'patch: Invalid value:'],
    ['null', null, 400, 'Invalid JSON Patch'],
    [
      'a list',
      [],
      400,
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
  ])('refuses %s', async (_what, body, code, message) => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const found = await refusal(client.patch(configMaps, key, { type: 'merge', body }))
    expect(found.code).toBe(code)
    expect(found.message).toContain(message)
  })

  it.each([
    ['json', 'x', 400, 'json: cannot unmarshal'],
    ['json', [{}], 422, 'the server rejected our request due to an error in our request'],
    ['json', [{ op: 'turn', path: '/data' }], 422, 'the server rejected our request due to an error in our request'],
    ['strategic', true, 400, 'json: cannot unmarshal bool into Go value of type map[string]interface {}'],
    [
      'strategic',
      { metadata: { labels: 'x' } },
      422,
      'patch: Invalid value: "map[metadata:map[labels:x]]": cannot restore map from string',
    ],
    ['strategic', { metadata: { finalizers: { a: 'b' } } }, 422, 'cannot restore slice from map'],
    ['strategic', { metadata: 'x' }, 422, 'cannot restore struct from: string'],
    ['strategic', { data: { a: 1 } }, 422, '"map[data:map[a:1]]": cannot convert int64 to string'],
    ['strategic', { data: { a: 1.5 } }, 422, '"map[data:map[a:1.5]]": unrecognized type: string'],
    ['strategic', { metadata: 1.5 }, 422, 'cannot restore struct from: float64'],
    ['strategic', { metadata: { labels: 1.5 } }, 422, 'cannot restore map from float64'],
    ['strategic', { data: { a: true } }, 422, 'unrecognized type: string'],
    ['strategic', { immutable: 'x' }, 422, 'unrecognized type: bool'],
    [
      'strategic',
      { metadata: { generation: 1.5 } },
      422,
      '"map[metadata:map[generation:1.5]]": cannot convert float64 to int64',
    ],
    ['strategic', { metadata: { generation: 1e30 } }, 422, 'json: cannot unmarshal number'],
    ['merge', { metadata: { labels: 'x' } }, 422, 'json: cannot unmarshal string into Go struct field'],
  ] as const)('refuses as a %s patch %j', async (type, body, code, message) => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const found = await refusal(client.patch(configMaps, key, { type, body: body as never }))
    expect(found.code).toBe(code)
    expect(found.message).toContain(message)
  })

  it.each([
    ['json', null],
    ['strategic', null],
    ['strategic', { kind: 'Pod', apiVersion: 'v2' }],
  ] as const)('changes nothing by the %s patch %j', async (type, body) => {
    const { client } = await startTestCore()
    const created = await client.create(configMaps, configMap('a'))
    expect(await client.patch(configMaps, key, { type, body: body as never })).toBe(created)
  })

  it('answers 404 where nothing is', async () => {
    const { client } = await startTestCore()
    expect((await refusal(client.patch(configMaps, key, { type: 'merge', body: {} }))).code).toBe(404)
  })
})

describe('a write of the status', () => {
  it('has no warnings of what people want', async () => {
    const { registry } = await startTestCore()
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'fast' }
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { ...key, annotations }, spec }
    const claims = registry(persistentVolumeClaims)
    await claims.create(admin, 'default', claim, writeOptions)
    const write = async (subresource: string, labels: Record<string, string>) => {
      const changed = { ...claim, metadata: { ...claim.metadata, labels }, status: { phase: 'Bound' } }
      return claims.update(admin, 'default', 'a', subresource, changed, writeOptions)
    }
    expect(await write('', { l: '1' })).toMatchObject({ warnings: [expect.stringContaining('deprecated since v1.8')] })
    expect(await write('status', { l: '2' })).toMatchObject({
      warnings: [],
      stored: { object: { status: { phase: 'Bound' } } },
    })
  })

  const marks = { labels: { l: '1' }, annotations: { a: '1' }, finalizers: ['example.com/f'] }
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }
  const reject = { limitResponse: { type: 'Reject' } }
  const policySpec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] }
  it.each([
    ['deployments', deployments, { spec: deploymentSpec }, ['annotations', 'finalizers']],
    ['pods', pods, { spec: pod('x').spec }, ['labels', 'annotations', 'finalizers']],
    ['servicecidrs', serviceCidrs, { spec: { cidrs: ['10.8.0.0/16'] } }, []],
    ['flowschemas', flowSchemas, { spec: { priorityLevelConfiguration: { name: 'exempt' } } }, []],
    ['prioritylevelconfigurations', priorityLevelConfigurations, { spec: { type: 'Limited', limited: reject } }, []],
    ['validatingadmissionpolicies', validatingAdmissionPolicies, { spec: policySpec }, []],
    [
      'volumeattachments',
      volumeAttachments,
      { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
      [],
    ],
    [
      'replicationcontrollers',
      replicationControllers,
      { spec: controller('x').spec },
      ['labels', 'annotations', 'finalizers'],
    ],
  ] as const)('of %s writes of the metadata what upstream writes', async (_name, resource, rest, written) => {
    const { client } = await startTestCore()
    const { kind, group, version, namespaced } = resource
    const apiVersion = group === '' ? version : `${group}/${version}`
    const metadata = { name: 'x', ...(namespaced ? { namespace: 'default' } : {}) }
    const created = await client.create(
      resource as Resource,
      { apiVersion, kind, metadata, ...rest } as KubernetesObject,
    )
    const changed = { ...created, metadata: { ...created.metadata, ...marks, ownerReferences: [] } }
    const { metadata: after } = await client.update(resource as Resource, changed, { subresource: 'status' })
    expect(Object.keys(marks).filter((name) => name in after)).toEqual(written)
  })
})
