import {
  certificateSigningRequests,
  configMaps,
  horizontalPodAutoscalers,
  horizontalPodAutoscalersV1,
  type KubernetesObject,
  namespaces,
  nodes,
  pods,
  type Resource,
  replicationControllers,
  serviceAccounts,
} from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'
import { describe, expect, it } from 'vitest'
import { admin, configMap, pod, refusal, startTestCore, type TestCore } from '../testing/test-core.ts'

const as = (fieldManager: string) => ({ fieldManager })

/** `manager operation version subresource: fields`, of each owner of an object. */
async function owned(core: TestCore, resource: Resource, name: string, namespace = 'default') {
  const { withManagedFields } = await core.registry(resource).get(namespace, name)
  const entries = withManagedFields.metadata.managedFields ?? []
  return Object.fromEntries(
    entries.map(({ manager, operation, apiVersion, subresource, fieldsV1 }) => [
      [manager, operation, apiVersion, subresource].filter((each) => each !== undefined).join(' '),
      JSON.parse(JSON.stringify(fieldsV1)) as unknown,
    ]),
  )
}

const controller = (replicas: number): KubernetesObject =>
  ({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'rc', namespace: 'default' },
    spec: { replicas, selector: { app: 'a' }, template: { metadata: { labels: { app: 'a' } }, spec: pod('x').spec } },
  }) as KubernetesObject

describe('the owners of fields', () => {
  it('are those who create and change them', async () => {
    const core = await startTestCore()
    const { client } = core
    await client.create(configMaps, configMap('a', { x: '1', y: '1' }), as('creator'))
    await client.patch(
      configMaps,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { data: { x: '2' }, metadata: { labels: { l: '1' } } } },
      as('patcher'),
    )
    expect(await owned(core, configMaps, 'a')).toEqual({
      'creator Update v1': { 'f:data': { '.': {}, 'f:y': {} } },
      'patcher Update v1': { 'f:data': { 'f:x': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
    })
  })

  it('stay as they were where elements of a list do not say which they are: the write goes on, or is refused for what it is', async () => {
    const core = await startTestCore()
    const { client } = core
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } }
    await client.create(serviceAccounts, { ...account, secrets: [{}] }, as('creator'))
    expect(await owned(core, serviceAccounts, 'robot')).toEqual({})
    const nameless = { containers: [{ image: 'nginx' }] } as never
    expect(await refusal(client.create(pods, pod('b', {}, nameless)))).toMatchObject({
      code: 422,
      message: 'Pod "b" is invalid: spec.containers[0].name: Required value',
    })
  })

  it('are named by the program that writes, where the request names nobody', async () => {
    const core = await startTestCore()
    const write = { dryRun: false, fieldManager: '', fieldValidation: 'Warn' } as const
    for (const [name, userAgent] of [
      ['a', 'kubectl/v1.36 (linux)'],
      ['b', ''],
      ['c', `${'é'.repeat(100)}/1`],
    ] as const) {
      await core.registry(configMaps).create({ ...admin, userAgent }, 'default', configMap(name, { x: '1' }), write)
    }
    const names = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => Object.keys(await owned(core, configMaps, name))),
    )
    expect(names.flat()).toEqual(['kubectl Update v1', 'unknown Update v1', `${'é'.repeat(64)} Update v1`])
  })

  it.each([
    ['system:serviceaccount:kube-system:replicaset-controller', 'kube-controller-manager'],
    ['system:kube-controller-manager', 'kube-controller-manager'],
    ['system:kube-scheduler', 'kube-scheduler'],
    ['system:node:n1', 'kubelet'],
  ])('are called as upstream calls the program of %s', async (name, program) => {
    const core = await startTestCore()
    const client = core.core.client({ name, groups: ['system:masters'] })
    await client.create(configMaps, configMap('a', { x: '1' }))
    expect(Object.keys(await owned(core, configMaps, 'a'))).toEqual([`${program} Update v1`])
  })

  it('of the status own it through the status, and nothing else', async () => {
    const core = await startTestCore()
    await core.client.create(pods, pod('a'), as('creator'))
    const found = await core.client.get(pods, { namespace: 'default', name: 'a' })
    const changed = { ...found, spec: { ...found.spec, hostname: 'x' }, status: { ...found.status, message: 'm' } }
    await core.client.update(pods, changed as typeof found, { subresource: 'status', ...as('kubelet') })
    const owners = await owned(core, pods, 'a')
    expect(owners['kubelet Update v1 status']).toEqual({ 'f:status': { 'f:message': {} } })
    expect(JSON.stringify(owners['creator Update v1'])).not.toContain('f:status')
  })

  it('do not own a status that a plain write had, nor what admission or the server put in', async () => {
    const core = await startTestCore()
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      spec: {},
      status: { capacity: { cpu: '4' } },
    }
    await core.client.create(nodes, node as never, as('kubelet'))
    expect(await owned(core, nodes, 'n', '')).toEqual({})
    await core.client.create(pods, pod('a'), as('creator'))
    expect(JSON.stringify(await owned(core, pods, 'a'))).not.toMatch(/f:tolerations|f:uid|f:creationTimestamp/)
  })

  it('of a request for a certificate own neither what is asked for nor what only others may write', async () => {
    const core = await startTestCore()
    const { client } = core
    const key = { name: 'jane' }
    const spec = { request: certificateRequests.jane, signerName: 'example.com/own', usages: ['client auth'] } as never
    const request = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', spec } as const
    const labelled = (label: string) => ({ ...request, metadata: { ...key, labels: { [label]: '1' } } })
    const conditions = (...types: readonly string[]) => ({
      status: { conditions: types.map((type) => ({ type, status: 'True', reason: 'Test' })) },
    })
    await client.create(certificateSigningRequests, labelled('created') as never, as('creator'))
    await client.apply(certificateSigningRequests, labelled('applied') as never, as('applier'))
    for (const [subresource, body] of [
      ['approval', conditions('Approved')],
      ['status', { ...conditions('Approved', 'Failed'), metadata: { labels: { failed: '1' } } }],
    ] as const)
      await client.patch(certificateSigningRequests, key, { type: 'merge', body }, { subresource, ...as(subresource) })
    const fields = ['.', 'f:lastTransitionTime', 'f:lastUpdateTime', 'f:reason', 'f:status', 'f:type']
    expect(await owned(core, certificateSigningRequests, 'jane', '')).toEqual({
      'creator Update certificates.k8s.io/v1': { 'f:metadata': { 'f:labels': { '.': {}, 'f:created': {} } } },
      'applier Apply certificates.k8s.io/v1': { 'f:metadata': { 'f:labels': { 'f:applied': {} } } },
      'approval Update certificates.k8s.io/v1 approval': {
        'f:status': {
          'f:conditions': {
            '.': {},
            'k:{"type":"Approved"}': Object.fromEntries(fields.map((field) => [field, {}])),
          },
        },
      },
      'status Update certificates.k8s.io/v1 status': { 'f:metadata': { 'f:labels': { 'f:failed': {} } } },
    })
  })

  it('of the number of replicas may own it through the scale', async () => {
    const core = await startTestCore()
    const { client } = core
    await client.create(replicationControllers, controller(1) as never, as('creator'))
    await client.patch(
      replicationControllers,
      { namespace: 'default', name: 'rc' },
      { type: 'merge', body: { spec: { replicas: 3 } } },
      { subresource: 'scale', ...as('hpa') },
    )
    const owners = await owned(core, replicationControllers, 'rc')
    expect(owners['hpa Update v1 scale']).toEqual({ 'f:spec': { 'f:replicas': {} } })
    expect(JSON.stringify(owners['creator Update v1'])).not.toContain('f:replicas')
  })

  it('who own it through the scale are not told when, and so stand before others that update', async () => {
    const { client, registry } = await startTestCore()
    const key = { namespace: 'default', name: 'rc' }
    await client.create(replicationControllers, controller(1) as never, as('creator'))
    for (const replicas of [3, 4]) {
      const patch = { type: 'merge', body: { spec: { replicas } } } as const
      await client.patch(replicationControllers, key, patch, { subresource: 'scale', ...as('hpa') })
    }
    const { withManagedFields } = await registry(replicationControllers).get('default', 'rc')
    expect(withManagedFields.metadata.managedFields?.map(({ manager, time }) => [manager, time])).toEqual([
      ['hpa', undefined],
      ['creator', expect.any(String)],
    ])
  })

  it('are kept in the version they wrote in', async () => {
    const core = await startTestCore()
    const { client } = core
    const v1 = {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h', namespace: 'default' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'X', name: 'x' },
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
      },
    }
    await client.create(horizontalPodAutoscalersV1, v1 as never, as('old'))
    await client.patch(
      horizontalPodAutoscalers,
      { namespace: 'default', name: 'h' },
      { type: 'merge', body: { spec: { metrics: null, maxReplicas: 4 } } },
      as('new'),
    )
    const owners = await owned(core, horizontalPodAutoscalers, 'h')
    expect(owners['new Update autoscaling/v2']).toEqual({
      'f:spec': { 'f:maxReplicas': {}, 'f:metrics': {} },
    })
    // What the other version calls targetCPUUtilizationPercentage is gone.
    expect(owners['old Update autoscaling/v1']).toEqual({
      'f:spec': { 'f:scaleTargetRef': {}, 'f:minReplicas': {} },
    })
  })

  it('stay as they are where a write changes nothing', async () => {
    const { client, registry } = await startTestCore()
    await client.create(configMaps, configMap('a', { x: '1' }), as('a'))
    const before = await registry(configMaps).get('default', 'a')
    await client.update(configMaps, configMap('a', { x: '1' }), as('b'))
    expect(await registry(configMaps).get('default', 'a')).toBe(before)
  })

  it('are not shown to callers in process, and survive a restart', async () => {
    const core = await startTestCore()
    const created = await core.client.create(configMaps, configMap('a', { x: '1' }), as('a'))
    expect(created.metadata).not.toHaveProperty('managedFields')
    const before = await owned(core, configMaps, 'a')
    const second = await startTestCore({ store: core.store })
    expect(await owned(second, configMaps, 'a')).toEqual(before)
    expect((await second.client.get(configMaps, { namespace: 'default', name: 'a' })).metadata).not.toHaveProperty(
      'managedFields',
    )
  })

  it('may be taken from a request, reset by it, and are kept where it makes no sense', async () => {
    const core = await startTestCore()
    const { client } = core
    const key = { namespace: 'default', name: 'a' }
    const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' }
    const own = { ...entry, fieldsV1: { 'f:data': { 'f:x': {} } } }
    await client.create(configMaps, configMap('a', { x: '1' }), as('a'))
    const patch = (managedFields: unknown) =>
      client.patch(configMaps, key, { type: 'merge', body: { metadata: { managedFields } } }, as('b'))
    await patch([own])
    expect(await owned(core, configMaps, 'a')).toEqual({ 'm Update v1': own.fieldsV1 })
    await patch([{ ...entry, fieldsV1: { nonsense: {} } }])
    expect(await owned(core, configMaps, 'a')).toEqual({ 'm Update v1': own.fieldsV1 })
    await client.patch(configMaps, key, { type: 'json', body: [{ op: 'remove', path: '/metadata/managedFields/0' }] })
    expect(await owned(core, configMaps, 'a')).toEqual({})
    await patch([own])
    expect(await owned(core, configMaps, 'a')).toEqual({ 'm Update v1': own.fieldsV1 })
    await patch([{}])
    expect(await owned(core, configMaps, 'a')).toEqual({})
    await client.patch(configMaps, key, { type: 'merge', body: { data: { x: '2' } } }, as('b'))
    expect(await owned(core, configMaps, 'a')).toEqual({})
  })

  it('are refused from a request where their names are none', async () => {
    const core = await startTestCore()
    const entry = { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } } as const
    const withOwner = (manager: string) => {
      const { metadata, ...rest } = configMap('a', { x: '1' })
      return { ...rest, metadata: { ...metadata, managedFields: [{ ...entry, manager }] } }
    }
    const problem =
      'metadata.managedFields[0].manager: Invalid value: "a\\nb": invalid character U+000A (at position 1)'
    await core.client.create(configMaps, configMap('a', { x: '1' }), as('b'))
    await core.client.update(configMaps, withOwner('a b'), as('b'))
    const onUpdate = await refusal(core.client.update(configMaps, withOwner('a\nb'), as('b')))
    expect([onUpdate.code, onUpdate.message]).toEqual([422, `ConfigMap "a" is invalid: ${problem}`])
    expect(Object.keys(await owned(core, configMaps, 'a'))).toEqual(['a b Update v1'])
  })
})

describe('an apply', () => {
  const configuration = (data: Record<string, string>) => configMap('a', data)
  const key = { namespace: 'default', name: 'a' }

  it('creates what is not there, changes what is, and takes back what it gave', async () => {
    const core = await startTestCore()
    const { client } = core
    await client.apply(configMaps, configuration({ x: '1', y: '1' }), as('m'))
    await client.patch(configMaps, key, { type: 'merge', body: { data: { z: '1' } } }, as('other'))
    const applied = await client.apply(configMaps, configuration({ x: '2' }), as('m'))
    expect(applied.data).toEqual({ x: '2', z: '1' })
    expect(await owned(core, configMaps, 'a')).toEqual({
      'm Apply v1': { 'f:data': { 'f:x': {} } },
      'other Update v1': { 'f:data': { 'f:z': {} } },
    })
  })

  it('is refused where others own what it would change, unless it is forced', async () => {
    const core = await startTestCore()
    const { client } = core
    await client.create(configMaps, configuration({ x: '1' }), as('other'))
    expect(await refusal(client.apply(configMaps, configuration({ x: '2' }), as('m')))).toEqual({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "other" using v1: .data.x',
    })
    const forced = await client.apply(configMaps, configuration({ x: '2' }), { ...as('m'), force: true })
    expect(forced.data).toEqual({ x: '2' })
    expect(await owned(core, configMaps, 'a')).toEqual({
      'm Apply v1': { 'f:data': { 'f:x': {} } },
      'other Update v1': { 'f:data': {} },
    })
  })

  it('writes nothing where nothing changes', async () => {
    const { client } = await startTestCore()
    const first = await client.apply(pods, pod('a'), as('m'))
    expect(await client.apply(pods, pod('a'), as('m'))).toBe(first)
    // What is written in another form is the same all the same.
    const second = await client.apply(pods, withResources('b'), as('m'))
    expect(await client.apply(pods, withResources('b'), as('m'))).toBe(second)
  })

  it('through the status changes nothing else', async () => {
    const core = await startTestCore()
    const { client } = core
    await client.create(pods, pod('a'), as('creator'))
    const status = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'default' } } as const
    const applied = await client.apply(
      pods,
      { ...status, spec: { hostname: 'x' }, status: { message: 'm' } },
      { ...as('m'), subresource: 'status' },
    )
    expect([applied.status?.message, applied.spec.hostname]).toEqual(['m', undefined])
    expect((await owned(core, pods, 'a'))['m Apply v1 status']).toEqual({ 'f:status': { 'f:message': {} } })
    expect(
      await refusal(
        client.apply(
          pods,
          { ...status, metadata: { name: 'none', namespace: 'default' } },
          { ...as('m'), subresource: 'status' },
        ),
      ),
    ).toMatchObject({ code: 404 })
  })

  it('through the scale owns the number of replicas', async () => {
    const core = await startTestCore()
    const { client } = core
    await client.create(replicationControllers, controller(1) as never, as('creator'))
    const scale = (replicas: number) =>
      ({
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'rc', namespace: 'default' },
        spec: { replicas },
      }) as never
    const options = { ...as('m'), subresource: 'scale' }
    expect((await refusal(client.apply(replicationControllers, scale(3), options))).message).toBe(
      // The number is in the Scale, and so is the version that it was set in (ScaleHandler.ToSubresource).
      'Apply failed with 1 conflict: conflict with "creator" using autoscaling/v1: .spec.replicas',
    )
    await client.apply(replicationControllers, scale(3), { ...options, force: true })
    expect((await owned(core, replicationControllers, 'rc'))['m Apply v1 scale']).toEqual({
      'f:spec': { 'f:replicas': {} },
    })
    expect((await client.get(replicationControllers, { namespace: 'default', name: 'rc' })).spec?.replicas).toBe(3)
  })

  it('as kubectl takes over from client-side apply, and keeps what that looks for', async () => {
    const { client } = await startTestCore()
    const last = 'kubectl.kubernetes.io/last-applied-configuration'
    const plain = configuration({ x: '1' })
    const annotations = { [last]: JSON.stringify(plain) }
    await client.create(
      configMaps,
      { ...plain, metadata: { ...plain.metadata, annotations } },
      as('kubectl-client-side-apply'),
    )
    const applied = await client.apply(configMaps, configuration({ x: '<2>' }), as('kubectl'))
    expect(applied.data).toEqual({ x: '<2>' })
    expect(applied.metadata.annotations?.[last]).toBe(
      '{"apiVersion":"v1","data":{"x":"\\u003c2\\u003e"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}}\n',
    )
  })

  it.each<[string, object, number, string]>([
    ['another kind', { kind: 'Secret' }, 400, 'invalid object type: /v1, Kind=Secret'],
    ['no kind', { kind: undefined, apiVersion: undefined }, 400, 'invalid object type: /, Kind='],
    [
      'managedFields',
      { metadata: { name: 'a', namespace: 'default', managedFields: [] } },
      400,
      'metadata.managedFields must be nil',
    ],
    [
      'a field the schema does not have',
      { colour: 'red' },
      500,
      'failed to create typed patch object (default/a; /v1, Kind=ConfigMap): .colour: field not declared in schema',
    ],
    [
      'a value of another type',
      { data: { a: 1 } },
      500,
      'failed to create typed patch object (default/a; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [
      'a text that is no time',
      { metadata: { name: 'a', namespace: 'default', creationTimestamp: 'x' } },
      500,
      'failed to convert new object (default/a; /v1, Kind=ConfigMap) to proper version: unable to convert unstructured object to /v1, Kind=ConfigMap: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    [
      'a uid, where nothing is',
      { metadata: { name: 'a', namespace: 'default', uid: 'u' } },
      409,
      'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid u, and no existing object was found',
    ],
    [
      'no name but a generated one',
      { metadata: { namespace: 'default', generateName: 'a' } },
      400,
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    ],
  ])('is refused with %s', async (_what, more, code, message) => {
    const { registry } = await startTestCore()
    const body = { ...configuration({}), ...more }
    const options = { dryRun: false, fieldManager: 'm', fieldValidation: 'Warn' } as const
    const call = registry(configMaps).patch(admin, 'default', 'a', '', { type: 'apply', body }, options)
    expect(await refusal(call)).toMatchObject({ code, message })
  })

  it('is meant for one version where it names one', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.apply(configMaps, configuration({ x: '1' }), as('m'))
    const { resourceVersion } = metadata
    await client.apply(configMaps, configuration({ x: '2' }), as('m'))
    const late = configMap('a', { x: '3' }, { resourceVersion })
    expect(await refusal(client.apply(configMaps, late, as('m')))).toMatchObject({ code: 409, reason: 'Conflict' })
  })

  it('stores nothing in a dry run', async () => {
    const { client } = await startTestCore()
    await client.apply(
      namespaces,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } },
      { ...as('m'), dryRun: true },
    )
    expect(await refusal(client.get(namespaces, { name: 'n' }))).toMatchObject({ code: 404 })
  })
})

const withResources = (name: string) =>
  pod(name, {}, { containers: [{ name: 'main', image: 'nginx', resources: { limits: { cpu: '1000m' } } }] } as never)
