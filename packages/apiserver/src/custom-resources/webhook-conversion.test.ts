import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  type KubernetesObject,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '@coracle/api'
import { realEnvironment } from '@coracle/environment'
import type { Store } from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { apiServerUser } from '../api-server-user.ts'
import { TestServer } from '../http/testing/test-server.ts'
import { createPki } from '../security/certificates.ts'
import { crateDefinition, crateVersion, crateVersionOfItsOwn, establish } from '../testing/custom-resources.ts'
import { webhookConversion } from './webhook-conversion.ts'

interface Review {
  readonly apiVersion: string
  readonly kind: string
  readonly request: {
    readonly uid: string
    readonly desiredAPIVersion: string
    readonly objects: readonly KubernetesObject[]
  }
}

const crate = (name: string): KubernetesObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Crate',
  metadata: { name, uid: name, labels: { a: 'b' } },
})

describe('a conversion by webhook', () => {
  let reviews: Review[]
  /** What the webhook makes of a review. */
  let answer: (review: Review) => unknown

  const success = ({ apiVersion, kind, request }: Review, change: (object: KubernetesObject) => unknown) => ({
    apiVersion,
    kind,
    response: {
      uid: request.uid,
      result: { status: 'Success' },
      convertedObjects: request.objects.map((each) => change({ ...each, apiVersion: request.desiredAPIVersion })),
    },
  })
  const convert = webhookConversion({
    client: {
      post: async (body) => {
        reviews.push(body as Review)
        return answer(body as Review)
      },
    },
    reviewVersion: 'v1',
    uuid: () => `review-${reviews.length}`,
  })

  beforeEach(() => {
    reviews = []
    answer = (review) => success(review, (object) => object)
  })

  it('asks once for all that is wanted in a turn, in order', async () => {
    const all = await Promise.all(['a', 'b', 'c'].map((name) => convert(crate(name), 'example.com/v2')))
    expect(all.map(({ apiVersion, metadata }) => [apiVersion, metadata.name])).toEqual([
      ['example.com/v2', 'a'],
      ['example.com/v2', 'b'],
      ['example.com/v2', 'c'],
    ])
    expect(reviews.map(({ request }) => request.objects.length)).toEqual([3])
    expect(reviews[0]?.apiVersion).toBe('apiextensions.k8s.io/v1')
  })

  it('does not ask about what is in the version already', () => {
    const object = crate('a')
    expect(convert(object, 'example.com/v1')).toBe(object)
  })

  it('takes labels and annotations of the webhook, and no other metadata', async () => {
    answer = (review) =>
      success(review, (object) => ({
        ...object,
        metadata: { name: 'a', uid: 'a', labels: { c: 'd' }, finalizers: ['example.com/mine'] },
      }))
    const { metadata } = await convert(crate('a'), 'example.com/v2')
    expect(metadata).toEqual({ name: 'a', uid: 'a', labels: { c: 'd' } })
  })

  const changed = (change: object) => (review: Review) => success(review, (object) => ({ ...object, ...change }))
  const identity = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }
  const withMetadata = (metadata: unknown) => changed({ metadata })
  const own = { name: 'a', uid: 'a' }
  it.each<[string, (review: Review) => unknown, string]>([
    [
      'nothing',
      () => ({}),
      'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=',
    ],
    ['no answer', () => ({ ...identity }), 'failed: no response provided'],
    [
      'another review',
      () => ({ ...identity, response: { uid: 'x' } }),
      'failed: expected response.uid="review-0", got "x"',
    ],
    [
      'a failure',
      ({ request }) => ({
        ...identity,
        response: { uid: request.uid, result: { status: 'Failure', message: 'no mark' } },
      }),
      'failed: no mark',
    ],
    [
      'neither success nor why not',
      ({ request }) => ({ ...identity, response: { uid: request.uid, result: {} } }),
      "failed: response.result.status was '', not 'Success'",
    ],
    [
      'fewer objects',
      ({ request }) => ({
        ...identity,
        response: { uid: request.uid, result: { status: 'Success' }, convertedObjects: [] },
      }),
      'returned 0 objects, expected 1',
    ],
    [
      'another version',
      changed({ apiVersion: 'example.com/v3' }),
      'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)',
    ],
    [
      'no version',
      changed({ apiVersion: undefined }),
      'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received )',
    ],
    [
      'another kind',
      changed({ kind: 'Box' }),
      'returned invalid object at index 0: invalid kind (expected Crate, received Box)',
    ],
    ['another name', withMetadata({ name: 'b', uid: 'a' }), 'returned invalid object: must have the same name: a != b'],
    ['another uid', withMetadata({ name: 'a', uid: 'b' }), 'returned invalid object: must have the same UID: a != b'],
    [
      'labels that are none',
      withMetadata({ ...own, labels: ['a'] }),
      'returned invalid metadata: invalid metadata.labels of type []interface {} in converted object',
    ],
    [
      'labels that are no texts',
      withMetadata({ ...own, labels: { a: 1 } }),
      'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
    ],
    [
      'labels that no object may have',
      withMetadata({ ...own, labels: { a: 'b c' } }),
      'returned invalid metadata: metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of',
    ],
    [
      'annotations that no object may have',
      withMetadata({ ...own, annotations: { 'a b': 'c' } }),
      'returned invalid metadata: metadata.annotation: Invalid value: "a b": name part must consist of',
    ],
  ])('refuses an answer of %s', async (_, wrong, why) => {
    answer = wrong
    const error = await Promise.resolve(convert(crate('a'), 'example.com/v2')).catch((caught) => caught)
    const start = `conversion webhook for example.com/v1, Kind=Crate ${why}`
    expect(error.message.slice(0, start.length)).toBe(start)
  })

  it('names the place of an object among others', async () => {
    answer = (review) =>
      success(review, (object) =>
        object.metadata.name === 'a' ? object : { ...object, metadata: { ...object.metadata, labels: { a: true } } },
      )
    const [one, other] = await Promise.allSettled(['a', 'b'].map((name) => convert(crate(name), 'example.com/v2')))
    expect(one?.status).toBe('fulfilled')
    expect(other).toMatchObject({
      reason: {
        message:
          'conversion webhook for example.com/v1, Kind=Crate returned invalid metadata in object at index 1: metadata.labels[a] must be a string, but is bool in converted object',
      },
    })
  })

  it('takes null for no labels', async () => {
    answer = (review) => success(review, (object) => ({ ...object, metadata: { ...own, labels: null } }))
    expect((await convert(crate('a'), 'example.com/v2')).metadata).toEqual(own)
  })

  it('believes any answer of v1beta1', async () => {
    const old = webhookConversion({
      client: {
        post: async (body) => ({ response: { ...success(body as Review, (each) => each).response, uid: 'x' } }),
      },
      reviewVersion: 'v1beta1',
      uuid: () => 'a',
    })
    expect((await old(crate('a'), 'example.com/v2')).apiVersion).toBe('example.com/v2')
  })
})

describe('a kind whose versions a webhook converts', () => {
  let server: TestServer
  let store: Store
  let webhook: Server
  let clientConfig: object
  let behindService: object
  let calls = 0

  beforeEach(async () => {
    calls = 0
    const pki = createPki(realEnvironment(), ['hook.default.svc'])
    webhook = createServer({ key: pki.serving.keyPem, cert: pki.serving.certificatePem }, async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { request: asked, ...about } = JSON.parse(Buffer.concat(chunks).toString())
      calls += 1
      const convertedObjects = asked.objects.map(
        ({ spec, ...rest }: { readonly spec?: { readonly label?: string } }) => {
          const [version, text = ''] = [asked.desiredAPIVersion, spec?.label ?? '']
          const label = version.endsWith('v2') ? `new ${text}` : text.replace(/^new /, '')
          return { ...rest, apiVersion: version, spec: { label } }
        },
      )
      const isSpoilt = convertedObjects.some((each: { spec: { label: string } }) => each.spec.label.includes('vinegar'))
      const result = isSpoilt ? { status: 'Failure', message: 'spoilt' } : { status: 'Success' }
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ ...about, response: { uid: asked.uid, result, convertedObjects } }))
    })
    webhook.listen(0, '127.0.0.1')
    await once(webhook, 'listening')
    const { port } = webhook.address() as AddressInfo
    const caBundle = Buffer.from(pki.ca.certificatePem).toString('base64')
    clientConfig = { url: `https://127.0.0.1:${port}/convert`, caBundle }
    behindService = { service: { namespace: 'default', name: 'hook', path: '/convert', port }, caBundle }
    store = createMemoryStore()
    server = await TestServer.start({ store })
  })

  afterEach(async () => {
    await server.close()
    webhook.closeAllConnections()
    webhook.close()
  })

  const path = (version: string, rest = '') => `/apis/example.com/${version}/namespaces/default/crates${rest}`
  const define = (versions: readonly object[]) => {
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v2', 'v1'] } }
    return establish(server.core.client(apiServerUser), crateDefinition(versions, { conversion }))
  }
  const merge = (body: unknown) => ({
    method: 'PATCH',
    body,
    headers: { 'Content-Type': 'application/merge-patch+json' },
  })
  const withWine = async (definition: CustomResourceDefinition) => {
    await post('v1', 'a', 'wine')
    return definition
  }
  const post = (version: string, name: string, label: string) =>
    server.call(path(version), {
      method: 'POST',
      body: { apiVersion: `example.com/${version}`, kind: 'Crate', metadata: { name }, spec: { label } },
    })

  it('shows and takes objects in each, and asks once for each revision', async () => {
    await define([crateVersion('v1', { storage: true }), crateVersion('v2')])
    expect((await post('v1', 'a', 'wine')).code).toBe(201)
    expect((await server.call(path('v2', '/a'))).json).toMatchObject({
      apiVersion: 'example.com/v2',
      spec: { label: 'new wine' },
    })
    expect((await post('v2', 'b', 'new beer')).json.spec.label).toBe('new beer')
    expect((await server.call(path('v1', '/b'))).json.spec.label).toBe('beer')
    const before = calls
    for (let i = 0; i < 3; i += 1) expect((await server.call(path('v2'))).json.items).toHaveLength(2)
    expect(calls).toBeLessThanOrEqual(before + 1)
  })

  /** Makes v2 the version that objects are stored in. */
  const moveStorage = async (definition: CustomResourceDefinition, versions: readonly object[] = movedVersions) =>
    server.core
      .client(apiServerUser)
      .patch(
        customResourceDefinitions,
        { name: 'crates.example.com' },
        { type: 'merge', body: { spec: { ...definition.spec, versions } } },
      )
  const movedVersions = [crateVersion('v1'), crateVersion('v2', { storage: true })]
  /** The version and the label that the store has of an object. */
  const stored = async (name: string) => {
    const entry = await store.get(`/registry/example.com/crates/default/${name}`)
    const text = Buffer.from(entry?.value ?? []).toString()
    return [/"apiVersion":"([^"]*)"/.exec(text)?.[1], /"label":"([^"]*)"/.exec(text)?.[1]]
  }

  describe('where another version becomes the one to store', () => {
    it('shows what is there in each', async () => {
      await moveStorage(await define([crateVersion('v1', { storage: true }), crateVersion('v2')]).then(withWine))
      expect((await server.call(path('v2', '/a'))).json.spec.label).toBe('new wine')
      expect((await server.call(path('v1', '/a'))).json.spec.label).toBe('wine')
      expect((await server.call(path('v2'))).json.items[0].spec.label).toBe('new wine')
      expect(await stored('a')).toEqual(['example.com/v1', 'wine'])
    })

    it('stores in it what is written from then on, also where that changes nothing', async () => {
      await moveStorage(await define([crateVersion('v1', { storage: true }), crateVersion('v2')]).then(withWine))
      expect((await post('v1', 'b', 'beer')).json.spec.label).toBe('beer')
      expect(await stored('b')).toEqual(['example.com/v2', 'new beer'])
      const { json } = await server.call(path('v1', '/a'))
      expect((await server.call(path('v1', '/a'), { method: 'PUT', body: json })).code).toBe(200)
      expect(await stored('a')).toEqual(['example.com/v2', 'new wine'])
      expect((await server.call(path('v1', '/a'))).json.spec.label).toBe('wine')
    })

    it('can then do without the version before it', async () => {
      const definition = await define([crateVersion('v1', { storage: true }), crateVersion('v2')]).then(withWine)
      await moveStorage(definition)
      const { json } = await server.call(path('v2', '/a'))
      await server.call(path('v2', '/a'), { method: 'PUT', body: json })
      const body = { status: { storedVersions: ['v2'] } }
      await server.core
        .client(apiServerUser)
        .patch(
          customResourceDefinitions,
          { name: 'crates.example.com' },
          { type: 'merge', body },
          { subresource: 'status' },
        )
      await moveStorage(definition, [crateVersion('v2', { storage: true })])
      expect((await server.call(path('v1', '/a'))).code).toBe(404)
      expect((await server.call(path('v2', '/a'))).json.spec.label).toBe('new wine')
    })

    it('shows whoever judges a deletion the object in the version that it asks for', async () => {
      await moveStorage(await define([crateVersion('v1', { storage: true }), crateVersion('v2')]).then(withWine))
      const client = server.core.client(apiServerUser)
      const resourceRules = [
        { apiGroups: ['example.com'], apiVersions: ['v2'], operations: ['DELETE'], resources: ['crates'] },
      ]
      await client.create(validatingAdmissionPolicies, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'old-wine' },
        spec: {
          matchConstraints: { resourceRules },
          validations: [
            { expression: "oldObject.apiVersion == 'example.com/v2' && oldObject.spec.label == 'new wine'" },
          ],
        },
      })
      await client.create(validatingAdmissionPolicyBindings, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: 'old-wine' },
        spec: { policyName: 'old-wine', validationActions: ['Deny'] },
      })
      expect(await server.call(path('v2', '/a'), { method: 'DELETE' })).toMatchObject({ code: 200 })
    })

    it('converts what a finalizer holds when it is deleted', async () => {
      await moveStorage(await define([crateVersion('v1', { storage: true }), crateVersion('v2')]).then(withWine))
      const metadata = { finalizers: ['example.com/keep'] }
      await server.call(path('v1', '/a'), merge({ metadata }))
      await server.call(path('v1', '/a'), { method: 'DELETE' })
      expect((await server.call(path('v2', '/a'))).json).toMatchObject({
        metadata: { deletionTimestamp: expect.any(String) },
        spec: { label: 'new wine' },
      })
      await server.call(path('v2', '/a'), merge({ metadata: { finalizers: null } }))
      expect((await server.call(path('v1', '/a'))).code).toBe(404)
    })

    it('follows changes in order, through each version', async () => {
      await moveStorage(await define([crateVersion('v1', { storage: true }), crateVersion('v2')]).then(withWine))
      const watch = await server.lines(`${path('v2')}?watch=1`)
      expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { spec: { label: 'new wine' } } })
      await server.call(path('v1', '/a'), merge({ spec: { label: 'port' } }))
      expect(await watch.next()).toMatchObject({ type: 'MODIFIED', object: { spec: { label: 'new port' } } })
      watch.close()
    })

    it('applies to an object in the version of the request', async () => {
      const definition = await define([crateVersion('v1', { storage: true }), crateVersion('v2')])
      const apply = (version: string, manager: string, label: string) =>
        server.call(path(version, `/a?fieldManager=${manager}`), {
          method: 'PATCH',
          headers: { 'Content-Type': 'application/apply-patch+yaml' },
          body: { apiVersion: `example.com/${version}`, kind: 'Crate', metadata: { name: 'a' }, spec: { label } },
        })
      expect((await apply('v1', 'one', 'wine')).code).toBe(201)
      await moveStorage(definition)
      expect((await apply('v1', 'one', 'port')).json.spec.label).toBe('port')
      expect(await stored('a')).toEqual(['example.com/v2', 'new port'])
      const refused = await apply('v2', 'two', 'new beer')
      expect(refused.json.message).toContain('conflict with "one": .spec.label')
      expect((await apply('v2', 'two', 'new port')).code).toBe(200)
    })
  })

  describe('and that are selected by fields', () => {
    const selectableFields = [{ jsonPath: '.spec.label' }]
    const select = (label: string, rest = '') => `?fieldSelector=spec.label%3D${encodeURIComponent(label)}${rest}`
    const namesOf = ({ json }: Awaited<ReturnType<TestServer['call']>>) =>
      json.items.map(({ metadata }: KubernetesObject) => metadata.name)
    beforeEach(async () => {
      await define([
        crateVersionOfItsOwn('v1', { storage: true, selectableFields }),
        crateVersionOfItsOwn('v2', { selectableFields }),
        crateVersion('v3'),
      ])
      for (const name of ['a', 'b', 'c', 'd']) await post('v1', name, name === 'b' ? 'beer' : 'wine')
    })

    it('are found by what each version shows', async () => {
      expect(namesOf(await server.call(path('v1', select('wine'))))).toEqual(['a', 'c', 'd'])
      expect(namesOf(await server.call(path('v2', select('new wine'))))).toEqual(['a', 'c', 'd'])
      expect(namesOf(await server.call(path('v2', select('wine'))))).toEqual([])
      expect(namesOf(await server.call(path('v2', `${select('new wine')},metadata.name%3Dc`)))).toEqual(['c'])
    })

    it('are found through no version but those that say so', async () => {
      const refused = await server.call(path('v3', select('wine')))
      expect([refused.code, refused.json.message]).toEqual([400, 'field label not supported: spec.label'])
    })

    it('come in pages of one state', async () => {
      const first = await server.call(path('v2', select('new wine', '&limit=2')))
      expect(namesOf(first)).toEqual(['a', 'c'])
      await server.call(path('v1', '/d'), merge({ spec: { label: 'beer' } }))
      const token = encodeURIComponent(first.json.metadata.continue)
      const second = await server.call(path('v2', select('new wine', `&limit=2&continue=${token}`)))
      expect(namesOf(second)).toEqual(['d'])
      expect(second.json.metadata.continue ?? '').toBe('')
      expect((await server.call(path('v2', select('new wine', '&limit=2')))).json.metadata.continue ?? '').toBe('')
    })

    it.each(['from the state', 'from a revision'])('come into view and leave it, %s', async (from) => {
      const { metadata } = (await server.call(path('v2'))).json
      const rest = from === 'from the state' ? '&watch=1' : `&watch=1&resourceVersion=${metadata.resourceVersion}`
      const watch = await server.lines(path('v2', select('new wine', rest)))
      if (from === 'from the state')
        for (const name of ['a', 'c', 'd'])
          expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name } } })
      const change = (name: string, label: string) => server.call(path('v1', `/${name}`), merge({ spec: { label } }))
      const { json } = await change('a', 'beer')
      expect(await watch.next()).toMatchObject({
        type: 'DELETED',
        object: {
          metadata: { name: 'a', resourceVersion: json.metadata.resourceVersion },
          spec: { label: 'new wine' },
        },
      })
      await change('a', 'port')
      await change('b', 'wine')
      expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } })
      await server.call(path('v1', '/c'), merge({ metadata: { labels: { x: 'y' } } }))
      expect(await watch.next()).toMatchObject({ type: 'MODIFIED', object: { metadata: { name: 'c' } } })
      await server.call(path('v1', '/a'), { method: 'DELETE' })
      await server.call(path('v1', '/c'), { method: 'DELETE' })
      expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'c' } } })
      watch.close()
    })

    it('are deleted together by what the version shows', async () => {
      await server.call(path('v2', select('new wine')), { method: 'DELETE' })
      expect(namesOf(await server.call(path('v1')))).toEqual(['b'])
    })
  })

  it('holds what is written through a version to the schema of that one', async () => {
    const spec = { type: 'object', properties: { label: { type: 'string', maxLength: 6 } } }
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
    await define([crateVersion('v1', { storage: true, schema }), crateVersion('v2')])
    expect((await post('v2', 'a', 'new champagne')).code).toBe(201)
    const refused = await post('v1', 'b', 'champagne')
    expect(refused.json.message).toContain('spec.label: Too long: may not be more than 6')
    const { json } = await server.call(path('v1', '/a'))
    // What is as it was is not held against the object.
    json.metadata.labels = { sparkling: 'yes' }
    expect((await server.call(path('v1', '/a'), { method: 'PUT', body: json })).code).toBe(200)
  })

  it('says that the webhook failed where it does', async () => {
    await define([crateVersion('v1', { storage: true }), crateVersion('v2')])
    await post('v1', 'a', 'wine')
    webhook.closeAllConnections()
    await new Promise((resolve) => webhook.close(resolve))
    const { code, json } = await server.call(path('v2', '/a'))
    expect(code).toBe(500)
    expect(json.message).toMatch(
      /^conversion webhook for example.com\/v1, Kind=Crate failed: Post "https:\/\/127.0.0.1:\d+\/convert\?timeout=30s": dial tcp 127.0.0.1:\d+: connect: connection refused/,
    )
    expect((await server.call(path('v1', '/a'))).code).toBe(200)
  })

  it('is deleted through no version that the webhook does not make', async () => {
    await define([crateVersion('v1', { storage: true }), crateVersion('v2')])
    await post('v1', 'a', 'wine')
    await post('v1', 'b', 'wine')
    webhook.closeAllConnections()
    await new Promise((resolve) => webhook.close(resolve))
    for (const rest of ['/a', '/a?dryRun=All', '']) {
      const { code, json } = await server.call(path('v2', rest), { method: 'DELETE' })
      expect([code, json.message]).toEqual([500, expect.stringContaining('conversion webhook for example.com/v1')])
    }
    const deleted = await server.call(path('v1'), { method: 'DELETE' })
    expect(deleted.json.items.map((each: KubernetesObject) => each.metadata.name)).toEqual(['a', 'b'])
    expect((await server.call(path('v1'))).json.items).toEqual([])
  })

  it('goes with its collection only where all of it can be shown', async () => {
    await define([crateVersion('v1', { storage: true }), crateVersion('v2')])
    await post('v1', 'a', 'wine')
    expect((await server.call(path('v2', '/a'))).code).toBe(200)
    await post('v1', 'b', 'vinegar')
    const { code, json } = await server.call(path('v2'), { method: 'DELETE' })
    expect([code, json.message]).toEqual([500, expect.stringContaining('failed: spoilt')])
    expect((await server.call(path('v1', '/a'))).code).toBe(200)
  })

  it('is converted by a webhook behind a service, once that is there', async () => {
    clientConfig = behindService
    await define([crateVersion('v1', { storage: true }), crateVersion('v2')])
    await post('v1', 'a', 'wine')
    expect((await server.call(path('v2', '/a'))).json.message).toContain('service "hook" not found')
    const spec = { type: 'ExternalName', externalName: 'localhost' }
    const service = { metadata: { name: 'hook' }, spec }
    await server.call('/api/v1/namespaces/default/services', { method: 'POST', body: service })
    expect((await server.call(path('v2', '/a'))).json.spec).toEqual({ label: 'new wine' })
  })
})
