/** Webhooks in TypeScript, asked by a real API server over TLS. */
import {
  defaulted,
  int32,
  int64,
  mutatingWebhookConfigurations,
  object,
  optional,
  required,
  string,
  validatingWebhookConfigurations,
} from '@coracle/api'
import {
  conversionOf,
  conversionWebhook,
  createWebhookServer,
  customKind,
  deny,
  ensureCustomKind,
  ensureWebhooks,
  mutatingWebhook,
  newObject,
  selfMadeCertificate,
  validatingWebhook,
} from '@coracle/controller-runtime'
import { realEnvironment, silentLogger } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const environment = realEnvironment(silentLogger)

const site = customKind({
  group: 'example.com',
  kind: 'Site',
  doc: 'A site.',
  versions: {
    v1: {
      fields: {
        spec: required(
          object('', '', {
            host: required(string(), 'Its host.'),
            port: optional(int32(), 'Its port.'),
            replicas: defaulted(int32(), 'How many servers.', 1),
            serial: optional(int64(), 'Its number.'),
          }),
          'What is wanted.',
        ),
      },
    },
    v1beta1: {
      fields: {
        spec: required(
          object('', '', {
            address: required(string(), 'host:port'),
            serial: optional(int64(), 'Its number.'),
          }),
          'What is wanted.',
        ),
      },
    },
  },
})
const { v1: sites, v1beta1: olderSites } = site.versions

const convert = conversionWebhook('/convert', site.versions, 'v1', {
  v1beta1: {
    toHub: ({ spec: { address, ...more }, ...rest }) => {
      const [host = '', port = '80'] = address.split(':')
      if (host === '') throw new Error(`no host in ${JSON.stringify(address)}`)
      return { ...rest, spec: { host, port: Number(port), replicas: 1, ...more } }
    },
    fromHub: ({ spec: { host, port = 80, serial }, ...rest }) => ({
      ...rest,
      spec: { address: `${host}:${port}`, ...(serial === undefined ? {} : { serial }) },
    }),
  },
})

/** A whole number that no JavaScript number holds: objects of custom kinds have it as a bigint. */
const exact = (value: bigint): number => value as unknown as number

const fillIn = mutatingWebhook('/default-site', sites, ({ object, dryRun, user }) => {
  if (object === undefined) return undefined
  const annotations = { ...object.metadata.annotations, by: `${user.username}${dryRun ? ' trying' : ''}` }
  const { spec } = object
  const serial = spec.host === 'numbered' ? { serial: exact(2n ** 53n + 3n) } : {}
  return { ...object, metadata: { ...object.metadata, annotations }, spec: { port: 8080, ...spec, ...serial } }
})

const check = validatingWebhook(
  '/check-site',
  sites,
  async ({ object, oldObject, operation, warn }) => {
    if (object === undefined) return deny(`${oldObject?.metadata.name} stays`, { code: 409, reason: 'Conflict' })
    if (object.spec.port === 22) warn('port 22 is for ssh')
    if (object.spec.host === 'broken') throw new Error('no connection to the registrar')
    return operation === 'CREATE' && object.spec.host === 'taken' ? deny('the host taken is taken') : undefined
  },
  { operations: ['CREATE', 'UPDATE', 'DELETE'] },
)

let cluster: Cluster
const stopping = new AbortController()
let running: Promise<void>

beforeAll(async () => {
  cluster = await startCluster({ nodes: 0, listen: false, environment })
  const certificate = selfMadeCertificate(environment, ['127.0.0.1'])
  const webhooks = [convert, fillIn, check]
  const server = createWebhookServer({ environment, port: 0, certificate, webhooks })
  running = server.run(stopping.signal)
  const target = await server.listening
  const { definition } = site
  const converted = { ...definition, spec: { ...definition.spec, conversion: conversionOf(convert, target) } }
  await ensureCustomKind(cluster.client, { definition: converted }, environment)
  await ensureWebhooks(cluster.client, { name: 'sites', target, webhooks })
})

afterAll(async () => {
  stopping.abort()
  await Promise.all([running, cluster.stop()])
})

const siteOf = (name: string, host: string, more: { readonly port?: number } = {}) =>
  newObject(sites, { metadata: { name, namespace: 'default' }, spec: { host, replicas: 1, ...more } })

describe('webhooks', () => {
  it('change what is written', async () => {
    const { metadata, spec } = await cluster.client.create(sites, siteOf('changed', 'a'))
    expect(spec).toEqual({ host: 'a', port: 8080, replicas: 1 })
    expect(metadata.annotations).toEqual({ by: 'kubernetes-admin' })
    const tried = await cluster.client.create(sites, siteOf('tried', 'a'), { dryRun: true })
    expect(tried.metadata.annotations).toEqual({ by: 'kubernetes-admin trying' })
  })

  it('refuse, in words of their own', async () => {
    await expect(cluster.client.create(sites, siteOf('a', 'taken'))).rejects.toMatchObject({
      status: {
        code: 403,
        reason: 'Forbidden',
        message: 'admission webhook "check-site.sites.example.com" denied the request: the host taken is taken',
      },
    })
    await cluster.client.create(sites, siteOf('stays', 'b'))
    const key = { namespace: 'default', name: 'stays' }
    await expect(cluster.client.delete(sites, key)).rejects.toMatchObject({ status: { code: 409, reason: 'Conflict' } })
  })

  it('refuse with the error where they fail', async () => {
    await expect(cluster.client.create(sites, siteOf('a', 'broken'))).rejects.toMatchObject({
      status: { code: 500, message: expect.stringContaining('no connection to the registrar') },
    })
  })

  it('are not asked any more where there are none left, and those of others stay', async () => {
    const target = { url: 'https://127.0.0.1:1' }
    const metadata = { name: 'few' }
    const others = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration', metadata }
    await cluster.client.create(mutatingWebhookConfigurations, others as never)
    await ensureWebhooks(cluster.client, { name: 'few', target, webhooks: [check] })
    expect((await cluster.client.get(validatingWebhookConfigurations, metadata)).webhooks).toHaveLength(1)
    await ensureWebhooks(cluster.client, { name: 'few', target, webhooks: [] })
    await expect(cluster.client.get(validatingWebhookConfigurations, metadata)).rejects.toMatchObject({ code: 404 })
    expect((await cluster.client.get(mutatingWebhookConfigurations, metadata)).metadata.name).toBe('few')
    await cluster.client.delete(mutatingWebhookConfigurations, metadata)
  })

  it('set and convert whole numbers as they are written', async () => {
    const { spec } = await cluster.client.create(sites, siteOf('numbered', 'numbered'))
    expect(spec.serial).toBe(2n ** 53n + 3n)
    const older = newObject(olderSites, {
      metadata: { name: 'serial', namespace: 'default' },
      spec: { address: 'shop:443', serial: exact(2n ** 53n + 1n) },
    })
    await cluster.client.create(olderSites, older)
    const key = { namespace: 'default', name: 'serial' }
    expect((await cluster.client.get(sites, key)).spec.serial).toBe(2n ** 53n + 1n)
    expect((await cluster.client.get(olderSites, key)).spec.serial).toBe(2n ** 53n + 1n)
  })

  it('convert between versions', async () => {
    const older = newObject(olderSites, {
      metadata: { name: 'older', namespace: 'default', labels: { a: 'b' } },
      spec: { address: 'shop:443' },
    })
    await cluster.client.create(olderSites, older)
    const key = { namespace: 'default', name: 'older' }
    expect(await cluster.client.get(sites, key)).toMatchObject({
      apiVersion: 'example.com/v1',
      metadata: { labels: { a: 'b' } },
      spec: { host: 'shop', port: 443 },
    })
    expect((await cluster.client.get(olderSites, key)).spec).toEqual({ address: 'shop:443' })
    const wrong = { ...older, metadata: { ...older.metadata, name: 'wrong' }, spec: { address: ':1' } }
    await expect(cluster.client.create(olderSites, wrong)).rejects.toThrow('no host in ":1"')
  })
})
