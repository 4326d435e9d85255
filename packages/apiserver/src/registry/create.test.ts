import { configMaps, limitRanges, namespaces, nodes, pods, replicationControllers, resourceQuotas } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { admin, configMap, pod, refusal, startTestCore } from '../testing/test-core.ts'

const writeOptions = { dryRun: false, fieldManager: 'test', fieldValidation: 'Warn' } as const

describe('create', () => {
  it('gives an object its identity: uid, time, version', async () => {
    const { client } = await startTestCore()
    const created = await client.create(configMaps, configMap('a', { key: 'value' }))
    expect(created.metadata).toMatchObject({
      name: 'a',
      namespace: 'default',
      creationTimestamp: '2026-01-01T00:00:00Z',
      resourceVersion: expect.stringMatching(/^\d+$/),
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(await client.get(configMaps, { namespace: 'default', name: 'a' })).toBe(created)
  })

  it('keeps what objects made from one template want only once', async () => {
    const { client } = await startTestCore()
    const [a, b, other] = [
      await client.create(pods, pod('a')),
      await client.create(pods, pod('b')),
      await client.create(pods, { ...pod('c'), spec: { ...pod('c').spec, hostname: 'other' } }),
    ]
    expect(b.spec).toBe(a.spec)
    expect(other.spec).toMatchObject({ hostname: 'other' })
    expect(await client.get(pods, { namespace: 'default', name: 'b' })).toMatchObject({ metadata: { name: 'b' } })
  })

  it('still finds what is wrong with one that differs from those before it', async () => {
    const { client } = await startTestCore()
    for (const name of ['a', 'b', 'c']) await client.create(pods, pod(name))
    const { spec } = pod('d')
    const wrong = {
      ...pod('d'),
      spec: { ...spec, containers: spec.containers.map((each) => ({ ...each, name: 'A' })) },
    }
    expect(await refusal(client.create(pods, wrong))).toMatchObject({ code: 422, reason: 'Invalid' })
    expect((await client.create(pods, pod('d'))).metadata.name).toBe('d')
  })

  it('drops what only the server may set', async () => {
    const { client } = await startTestCore()
    const given = { uid: 'mine', generation: 7, deletionTimestamp: '2020-01-01T00:00:00Z', selfLink: '/x' }
    const { metadata } = await client.create(configMaps, configMap('a', {}, given))
    expect(metadata.uid).not.toBe('mine')
    expect(metadata).not.toHaveProperty('deletionTimestamp')
    expect(metadata).not.toHaveProperty('selfLink')
  })

  it('has the status of its kind, whatever a client says of it', async () => {
    const { client } = await startTestCore()
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'a', namespace: 'default' } }
    const given = { ...quota, spec: {}, status: { hard: { pods: '1' } } }
    expect((await client.create(resourceQuotas, given, { dryRun: true })).status).toEqual({})
  })

  it('keeps a generation only where the server does not count them', async () => {
    const { client } = await startTestCore()
    expect((await client.create(configMaps, configMap('a', {}, { generation: 7 }))).metadata.generation).toBe(7)
    expect((await client.create(pods, pod('a', { generation: 7 }))).metadata.generation).toBe(1)
  })

  it.each(['', '0', 'abc'])('takes the resourceVersion %j for none', async (resourceVersion) => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(configMaps, configMap('a', {}, { resourceVersion }))
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(0)
  })

  it('takes null for an object without fields', async () => {
    const { registry } = await startTestCore()
    const options = { dryRun: false, fieldManager: 'test', fieldValidation: 'Warn' } as const
    const { code, message } = await refusal(registry(configMaps).create(admin, 'default', null, options))
    expect([code, message]).toEqual([
      422,
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ])
  })

  it('counts generations from 1 where the kind counts them, and drops a status', async () => {
    const { client } = await startTestCore()
    const created = await client.create(pods, { ...pod('a'), status: { phase: 'Running', podIP: '10.0.0.1' } })
    expect(created.metadata.generation).toBe(1)
    expect(created.status?.phase).toBe('Pending')
    expect(created.status).not.toHaveProperty('podIP')
  })

  it('lets a node say how it is when it registers', async () => {
    const { client } = await startTestCore()
    const status = { capacity: { cpu: '4' } }
    const created = await client.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      spec: {},
      status,
    })
    expect(created.status?.capacity).toEqual({ cpu: '4' })
  })

  it('serves bytes that are the object, with the version put in', async () => {
    const { client, registry } = await startTestCore()
    const created = await client.create(pods, pod('a', { annotations: { note: 'über' } }))
    const stored = await registry(pods).get('default', 'a')
    expect(JSON.parse(stored.bytes.toString())).toEqual(stored.withManagedFields)
    expect(stored.object).toEqual(created)
    expect(stored.bytes).toBe(stored.bytes)
  })

  it('freezes what it returns, all the way down', async () => {
    const { client } = await startTestCore()
    const created = await client.create(pods, pod('a'))
    expect(Object.isFrozen(created.spec.containers[0])).toBe(true)
  })

  it('generates names: the prefix, cut to leave room, and five characters', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(configMaps, configMap('', {}, { generateName: `${'p'.repeat(60)}-` }))
    expect(metadata.name).toMatch(/^p{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  })

  it('gives a LimitRange without a name one that nobody has, as upstream', async () => {
    const { client } = await startTestCore()
    const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { namespace: 'default' }, spec: { limits: [] } }
    expect((await client.create(limitRanges, range)).metadata.name).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('tries another generated name where one is taken, and gives up after eight', async () => {
    const { client, environment } = await startTestCore()
    const suffixes = ['aaaaa', 'aaaaa', 'bbbbb', ...Array(8).fill('aaaaa')]
    environment.random.string = () => suffixes.shift() ?? 'ccccc'
    const make = () => client.create(configMaps, configMap('', {}, { generateName: 'x-' }))
    expect((await make()).metadata.name).toBe('x-aaaaa')
    expect((await make()).metadata.name).toBe('x-bbbbb')
    expect(await refusal(make())).toEqual({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "x-aaaaa" already exists, the server was not able to generate a unique name for the object',
    })
  })

  it('takes a body without kind and apiVersion for the kind of its path', async () => {
    const { registry } = await startTestCore()
    const { stored } = await registry(configMaps).create(admin, 'default', { metadata: { name: 'a' } }, writeOptions)
    expect(stored.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' })
  })

  it('warns of unknown fields, or refuses them when told to be strict', async () => {
    const { registry } = await startTestCore()
    const body = { ...configMap('a'), colour: 'red' }
    const { warnings, stored } = await registry(configMaps).create(admin, 'default', body, writeOptions)
    expect(warnings).toEqual(['unknown field "colour"'])
    expect(stored.object).not.toHaveProperty('colour')
    const strict = { ...writeOptions, fieldValidation: 'Strict' } as const
    expect(await refusal(registry(configMaps).create(admin, 'default', body, strict))).toEqual({
      code: 400,
      reason: 'BadRequest',
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "colour"',
    })
  })

  it('checks everything and stores nothing in a dry run', async () => {
    const { client, store } = await startTestCore()
    const before = await store.latest()
    const created = await client.create(pods, pod('a'), { dryRun: true })
    expect(created.metadata.uid).toBeDefined()
    expect(created.metadata.resourceVersion).toBeUndefined()
    expect(created.spec.restartPolicy).toBe('Always')
    expect(await store.latest()).toBe(before)
    expect((await refusal(client.create(pods, pod('-'), { dryRun: true }))).reason).toBe('Invalid')
  })

  it('takes a resourceVersion in a dry run, which does not reach the store that would refuse it', async () => {
    const { client } = await startTestCore()
    const body = configMap('a', {}, { resourceVersion: '1' })
    expect((await client.create(configMaps, body, { dryRun: true })).metadata.name).toBe('a')
    await client.create(configMaps, configMap('a'))
    expect((await refusal(client.create(configMaps, body, { dryRun: true }))).reason).toBe('AlreadyExists')
  })

  it('tells what is wrong with an object before that it has a resourceVersion, and that before that its name is taken', async () => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const versioned = (name: string) => client.create(configMaps, configMap(name, {}, { resourceVersion: '1' }))
    expect((await refusal(versioned('-'))).reason).toBe('Invalid')
    expect((await refusal(versioned('a'))).message).toBe('resourceVersion should not be set on objects to be created')
  })

  it.each([
    ['a name that is taken', configMap('taken'), 409, 'AlreadyExists', 'configmaps "taken" already exists'],
    [
      'a resourceVersion',
      configMap('a', {}, { resourceVersion: '1' }),
      500,
      '',
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'another kind',
      { ...configMap('a'), kind: 'Secret' },
      400,
      'BadRequest',
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      'a kind nobody knows',
      { ...configMap('a'), kind: 'Cat' },
      400,
      'BadRequest',
      'Cat in version "v1" cannot be handled as a ConfigMap: no kind "Cat" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'no name',
      configMap(''),
      422,
      'Invalid',
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ],
  ])('refuses %s', async (_what, body, code, reason, message) => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('taken'))
    expect(await refusal(client.create(configMaps, body as never))).toEqual({ code, reason, message })
  })

  it('refuses a namespace that is not the one of the request', async () => {
    const { registry } = await startTestCore()
    const body = configMap('a', {}, { namespace: 'kube-system' })
    expect(await refusal(registry(configMaps).create(admin, 'default', body, writeOptions))).toEqual({
      code: 400,
      reason: 'BadRequest',
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    })
  })

  it('refuses what is no object', async () => {
    const { registry } = await startTestCore()
    const { code, message } = await refusal(registry(configMaps).create(admin, 'default', [], writeOptions))
    expect(code).toBe(400)
    expect(message).toMatch(/^the object provided is unrecognized \(must be of type ConfigMap\): .* \(5b5d\)$/)
  })

  it('names every field that is wrong', async () => {
    const { client } = await startTestCore()
    const wrong = {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'rc', namespace: 'default' },
      spec: { replicas: -1, selector: { app: 'web' }, template: { metadata: {}, spec: { containers: [] } } },
    } as never
    const { code, message } = await refusal(client.create(replicationControllers, wrong))
    expect(code).toBe(422)
    expect(message).toContain('spec.replicas: Invalid value: -1')
    expect(message).toContain('spec.template.spec.containers: Required value')
  })

  it('stores one of two creates of the same name that run at the same time', async () => {
    const { client } = await startTestCore()
    const both = await Promise.allSettled([
      client.create(configMaps, configMap('a', { by: 'one' })),
      client.create(configMaps, configMap('a', { by: 'two' })),
    ])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect((await client.get(configMaps, { namespace: 'default', name: 'a' })).data).toEqual({ by: 'one' })
  })

  it('finds the first namespaces there', async () => {
    const { client } = await startTestCore()
    const { items } = await client.list(namespaces)
    expect(items.map(({ metadata }) => metadata.name)).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ])
  })
})
