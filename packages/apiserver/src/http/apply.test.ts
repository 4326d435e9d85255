import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const configMaps = '/api/v1/namespaces/default/configmaps'
const configuration = (name: string, data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})
const apply = (body: unknown) => ({
  method: 'PATCH',
  body,
  headers: { 'content-type': 'application/apply-patch+yaml' },
})

describe('PATCH of application/apply-patch+yaml', () => {
  it('takes JSON and YAML, creates with 201 and changes with 200', async () => {
    const path = `${configMaps}/a?fieldManager=m`
    const created = await server.call(path, apply(configuration('a', { x: '1' })))
    expect([created.code, created.json.data]).toEqual([201, { x: '1' }])
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  b: "2"\n'
    const changed = await server.call(path, apply(yaml))
    expect([changed.code, changed.json.data]).toEqual([200, { b: '2' }])
    expect(changed.json.metadata.managedFields).toEqual([
      {
        manager: 'm',
        operation: 'Apply',
        apiVersion: 'v1',
        time: expect.stringMatching(/Z$/),
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:b': {} } },
      },
    ])
  })

  it('names in a conflict who owns what', async () => {
    await server.call(`${configMaps}/b?fieldManager=m`, apply(configuration('b', { x: '1', y: '1' })))
    const refused = await server.failure(
      `${configMaps}/b?fieldManager=n`,
      apply(configuration('b', { x: '2', y: '2' })),
    )
    expect(refused).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 2 conflicts: conflicts with "m":\n- .data.x\n- .data.y',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "m"', field: '.data.x' },
          { reason: 'FieldManagerConflict', message: 'conflict with "m"', field: '.data.y' },
        ],
      },
    })
    const forced = await server.call(`${configMaps}/b?fieldManager=n&force=true`, apply(configuration('b', { x: '2' })))
    expect(forced.json.data).toEqual({ x: '2', y: '1' })
  })

  it.each([
    ['', 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'],
    ['?fieldManager=%07', 'fieldManager: Invalid value'],
  ])('says who applies: %j', async (query, message) => {
    const refused = await server.failure(`${configMaps}/c${query}`, apply(configuration('c', {})))
    expect(refused.code).toBe(422)
    expect(refused.message).toContain(message)
  })

  it.each([
    ['[]', 'error decoding YAML: error unmarshaling JSON'],
    ['a: [', 'error decoding YAML: '],
  ])('is refused with %j', async (body, message) => {
    const refused = await server.failure(`${configMaps}/c?fieldManager=m`, apply(body))
    expect(refused.code).toBe(400)
    expect(refused.message).toContain(message)
  })
})

describe('a null in a configuration of a built-in kind', () => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments'
  const deployment = (name: string, spec: object, metadata: object = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...metadata },
    spec: {
      selector: { matchLabels: { app: 'a' } },
      template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      ...spec,
    },
  })
  const ownedBy = ({ json }: { json: { metadata: { managedFields: readonly Owner[] } } }, manager: string) =>
    json.metadata.managedFields.find((each) => each.manager === manager)?.fieldsV1
  interface Owner {
    readonly manager: string
    readonly fieldsV1: object
  }

  it('is owned, and leaves the field to its default', async () => {
    const path = `${deployments}/a?fieldManager=m`
    const created = await server.call(path, apply(deployment('a', { replicas: null, minReadySeconds: null })))
    expect([created.code, created.json.spec.replicas, created.json.spec.minReadySeconds]).toEqual([201, 1, undefined])
    expect(ownedBy(created, 'm')).toMatchObject({ 'f:spec': { 'f:replicas': {}, 'f:minReadySeconds': {} } })
    const again = await server.call(path, apply(deployment('a', { replicas: null, minReadySeconds: null })))
    expect(again.json.metadata.resourceVersion).toBe(created.json.metadata.resourceVersion)
    const without = await server.call(path, apply(deployment('a', {})))
    expect(ownedBy(without, 'm')).not.toHaveProperty('f:spec.f:replicas')
  })

  it('takes the field from those who own it, who are asked first', async () => {
    await server.call(`${deployments}/b?fieldManager=m`, apply(deployment('b', { replicas: 3 })))
    const refused = await server.failure(`${deployments}/b?fieldManager=n`, apply(deployment('b', { replicas: null })))
    expect(refused).toMatchObject({ code: 409, details: { causes: [{ field: '.spec.replicas' }] } })
    const forced = await server.call(
      `${deployments}/b?fieldManager=n&force=true`,
      apply(deployment('b', { replicas: null })),
    )
    expect([forced.json.spec.replicas, ownedBy(forced, 'n')]).toMatchObject([1, { 'f:spec': { 'f:replicas': {} } }])
    expect(ownedBy(forced, 'm')).not.toHaveProperty('f:spec.f:replicas')
  })

  it('is owned where tools write one for a time that is not there, but for that of the object', async () => {
    const template = { metadata: { creationTimestamp: null, labels: { app: 'a' } } }
    const body = deployment('c', {}, { creationTimestamp: null, labels: null })
    const spec = { ...body.spec, template: { ...template, spec: body.spec.template.spec } }
    const created = await server.call(`${deployments}/c?fieldManager=m`, apply({ ...body, spec, status: null }))
    expect(created.code).toBe(201)
    expect(created.json.metadata.labels).toBeUndefined()
    expect(ownedBy(created, 'm')).toMatchObject({
      'f:metadata': { 'f:labels': {} },
      'f:spec': { 'f:template': { 'f:metadata': { 'f:creationTimestamp': {}, 'f:labels': { 'f:app': {} } } } },
    })
    expect(ownedBy(created, 'm')).not.toHaveProperty('f:metadata.f:creationTimestamp')
    expect(ownedBy(created, 'm')).not.toHaveProperty('f:status')
  })

  it('takes nothing away of what others have in a list or a map', async () => {
    const path = `${deployments}/d?fieldManager=`
    const owned = deployment('d', { strategy: { type: 'Recreate' } }, { labels: { l: '1' } })
    await server.call(`${path}m`, apply({ ...owned, metadata: { ...owned.metadata, annotations: { a: 'b' } } }))
    const changed = await server.call(`${path}n`, apply(deployment('d', { strategy: null }, { labels: null })))
    expect([changed.code, changed.json.spec.strategy, changed.json.metadata.labels]).toEqual([
      200,
      { type: 'Recreate' },
      { l: '1' },
    ])
    expect(ownedBy(changed, 'n')).toMatchObject({ 'f:metadata': { 'f:labels': {} }, 'f:spec': { 'f:strategy': {} } })
  })

  it('may be all of the metadata', async () => {
    const refused = await server.failure(
      `${deployments}/e?fieldManager=m`,
      apply({ ...deployment('e', {}), metadata: null }),
    )
    expect(refused.code).toBe(400)
  })
})

describe('managedFields', () => {
  beforeEach(async () => {
    await server.call(`${configMaps}/shown`, { method: 'DELETE' })
    await server.call(`${configMaps}/shown?fieldManager=m`, apply(configuration('shown', { x: '1' })))
  })

  it.each([
    ['application/json', (text: string) => JSON.parse(text).metadata],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', (text: string) => JSON.parse(text).metadata],
    ['application/json;as=Table;g=meta.k8s.io;v=v1', (text: string) => JSON.parse(text).rows[0].object.metadata],
  ])('are shown as %s', async (accept, metadataOf) => {
    const { text } = await server.call(`${configMaps}/shown`, { headers: { accept } })
    expect(metadataOf(text).managedFields).toMatchObject([{ manager: 'm', operation: 'Apply' }])
  })

  it('are shown as YAML', async () => {
    const { text } = await server.call(`${configMaps}/shown`, { headers: { accept: 'application/yaml' } })
    expect(text).toContain('manager: m')
  })

  it('come back in an update, which changes what it changes', async () => {
    const { json } = await server.call(`${configMaps}/shown`)
    const body = { ...json, data: { ...json.data, y: '1' } }
    const headers = { 'user-agent': 'editor/1.0' }
    const updated = await server.call(`${configMaps}/shown`, { method: 'PUT', body, headers })
    expect(updated.json.metadata.managedFields).toEqual([
      ...json.metadata.managedFields,
      expect.objectContaining({ manager: 'editor', operation: 'Update', fieldsV1: { 'f:data': { 'f:y': {} } } }),
    ])
  })
})
