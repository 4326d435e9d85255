import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { customResourceDefinitions, type KubernetesObject } from '@coracle/api'
import { realEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { apiServerUser } from '../api-server-user.ts'
import { TestServer } from '../http/testing/test-server.ts'
import { createPki } from '../security/certificates.ts'
import { crateDefinition, crateVersion, establish } from '../testing/custom-resources.ts'
import { webhookConversion } from './webhook-conversion.ts'

interface Review {
  readonly apiVersion: string
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

  const success = ({ request }: Review, change: (object: KubernetesObject) => unknown) => ({
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
  it.each<[string, (review: Review) => unknown, string]>([
    ['nothing', () => ({}), 'failed: no response provided'],
    ['another review', () => ({ response: { uid: 'x' } }), 'failed: expected response.uid="review-0", got "x"'],
    [
      'a failure',
      ({ request }) => ({ response: { uid: request.uid, result: { status: 'Failure', message: 'no mark' } } }),
      'failed: no mark',
    ],
    [
      'fewer objects',
      ({ request }) => ({ response: { uid: request.uid, result: { status: 'Success' }, convertedObjects: [] } }),
      'returned 0 objects, expected 1',
    ],
    [
      'another version',
      changed({ apiVersion: 'example.com/v3' }),
      'returned invalid converted object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)',
    ],
    ['another kind', changed({ kind: 'Box' }), 'index 0: invalid kind (expected Crate, received Box)'],
    ['another name', changed({ metadata: { name: 'b', uid: 'a' } }), 'index 0: must have the same name: a != b'],
    ['another uid', changed({ metadata: { name: 'a', uid: 'b' } }), 'index 0: must have the same UID: a != b'],
    [
      'labels that are none',
      changed({ metadata: { name: 'a', uid: 'a', labels: { a: 1 } } }),
      'must be a map of texts',
    ],
  ])('refuses an answer of %s', async (_, wrong, why) => {
    answer = wrong
    await expect(convert(crate('a'), 'example.com/v2')).rejects.toThrow(
      /^conversion webhook for example.com\/v1, Kind=Crate .*/,
    )
    await expect(convert(crate('a'), 'example.com/v2')).rejects.toThrow(why.replace('review-0', 'review-1'))
  })
})

describe('a kind whose versions a webhook converts', () => {
  let server: TestServer
  let webhook: Server
  let clientConfig: object
  let calls = 0

  beforeEach(async () => {
    calls = 0
    const pki = createPki(realEnvironment())
    webhook = createServer({ key: pki.serving.keyPem, cert: pki.serving.certificatePem }, async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { request: asked } = JSON.parse(Buffer.concat(chunks).toString())
      calls += 1
      const convertedObjects = asked.objects.map(
        ({ spec, ...rest }: { readonly spec?: { readonly label?: string } }) => {
          const [version, text = ''] = [asked.desiredAPIVersion, spec?.label ?? '']
          const label = version.endsWith('v2') ? `new ${text}` : text.replace(/^new /, '')
          return { ...rest, apiVersion: version, spec: { label } }
        },
      )
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ response: { uid: asked.uid, result: { status: 'Success' }, convertedObjects } }))
    })
    webhook.listen(0, '127.0.0.1')
    await once(webhook, 'listening')
    const { port } = webhook.address() as AddressInfo
    const caBundle = Buffer.from(pki.ca.certificatePem).toString('base64')
    clientConfig = { url: `https://127.0.0.1:${port}/convert`, caBundle }
    server = await TestServer.start()
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
  const post = (version: string, name: string, label: string) =>
    server.call(path(version), { method: 'POST', body: { metadata: { name }, spec: { label } } })

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

  it('keeps what is there where another version becomes the one to store', async () => {
    const { spec } = await define([crateVersion('v1', { storage: true }), crateVersion('v2')])
    await post('v1', 'a', 'wine')
    const body = { spec: { ...spec, versions: [crateVersion('v1'), crateVersion('v2', { storage: true })] } }
    const client = server.core.client(apiServerUser)
    await client.patch(customResourceDefinitions, { name: 'crates.example.com' }, { type: 'merge', body })
    expect((await server.call(path('v2', '/a'))).json.spec.label).toBe('new wine')
    expect((await server.call(path('v1', '/a'))).json.spec.label).toBe('wine')
    expect((await post('v2', 'b', 'new beer')).code).toBe(201)
  })

  it('says that the webhook failed where it does', async () => {
    await define([crateVersion('v1', { storage: true }), crateVersion('v2')])
    await post('v1', 'a', 'wine')
    webhook.closeAllConnections()
    await new Promise((resolve) => webhook.close(resolve))
    const { code, json } = await server.call(path('v2', '/a'))
    expect(code).toBe(500)
    expect(json.message).toMatch(
      /^conversion webhook for example.com\/v1, Kind=Crate failed: Post "https:\/\/127.0.0.1:\d+\/convert\?timeout=30s": connect ECONNREFUSED/,
    )
    expect((await server.call(path('v1', '/a'))).code).toBe(200)
  })
})
