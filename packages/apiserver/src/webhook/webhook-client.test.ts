import { X509Certificate } from 'node:crypto'
import { realClock, realEnvironment, VirtualClock } from '@coracle/environment'
import { issueServingCertificate } from '@coracle/environment/certificates'
import { describe, expect, it } from 'vitest'
import type { ServiceEndpoint } from '../aggregation/service-endpoint.ts'
import { createAuthority, createPki } from '../security/certificates.ts'
import { startTestWebhook } from '../testing/test-webhook.ts'
import { createWebhookClient } from './webhook-client.ts'

const resolve = () => ({ reason: 'ServiceNotFound', message: '' })
const question = { apiVersion: 'v1', kind: 'Question', request: { uid: '1' } }

describe('a client of a webhook', () => {
  it('waits for an answer as long as it is told', async () => {
    const hostClock = new VirtualClock()
    const asked = Promise.withResolvers<void>()
    const webhook = await startTestWebhook(() => () => asked.resolve())
    const client = createWebhookClient(webhook.clientConfig, { clock: realClock, resolve, hostClock })
    const answer = client.post(question, 2500)
    await asked.promise
    await hostClock.advance(2499)
    await Promise.all([
      expect(answer).rejects.toThrow(/^Post "https:.*\?timeout=3s": context deadline exceeded$/),
      hostClock.advance(1),
    ])
  })

  it('believes a webhook whose own certificate it was told to trust, and no other', async () => {
    const webhook = await startTestWebhook()
    const { caBundle: authority } = webhook.clientConfig
    const own = Buffer.from(webhook.certificatePem).toString('base64')
    const other = Buffer.from(createPki(realEnvironment()).serving.certificatePem).toString('base64')
    const post = async (caBundle: string): Promise<unknown> => {
      const client = createWebhookClient({ ...webhook.clientConfig, caBundle }, { clock: realClock, resolve })
      return client.post(question, 10_000).finally(client.close)
    }
    for (const caBundle of [authority, own]) {
      expect(await post(caBundle)).toMatchObject({ response: { allowed: true } })
    }
    await expect(post(other)).rejects.toThrow('x509: certificate signed by unknown authority')
  })

  describe('whose certificate has the name of its authority', () => {
    const authority = createAuthority(realEnvironment())
    const namesake = createAuthority(realEnvironment())
    const { subject } = new X509Certificate(authority.certificatePem)
    const start = (hosts: readonly string[], signer = authority, commonName = subject.replace('CN=', '')) => {
      const server = { commonName, hosts }
      const serving = issueServingCertificate(realEnvironment(), signer, server)
      return startTestWebhook(() => ({}), { ca: authority, serving })
    }
    const surroundings = { clock: realClock, resolve }

    it('is believed, and asked again over the connection it has', async () => {
      const webhook = await start(['127.0.0.1'])
      const client = createWebhookClient(webhook.clientConfig, surroundings)
      expect(await client.post(question, 10_000)).toMatchObject({ response: { allowed: true } })
      const { connections } = webhook
      expect(await client.post(question, 10_000)).toMatchObject({ response: { allowed: true } })
      expect([webhook.requests.length, webhook.connections]).toEqual([2, connections])
      client.close()
    })

    it.each([
      ['another authority of that name', namesake],
      ['somebody in the name of the authority', { ...authority, keyPem: namesake.keyPem }],
    ])('is refused where %s has signed it', async (_, signer) => {
      const webhook = await start(['127.0.0.1'], signer)
      const client = createWebhookClient(webhook.clientConfig, surroundings)
      await expect(client.post(question, 10_000)).rejects.toThrow('x509: certificate signed by unknown authority')
      expect(webhook.requests).toEqual([])
    })

    it('is refused where the authority has signed it in another name, which it has too', async () => {
      const { certificatePem } = issueServingCertificate(realEnvironment(), authority, {
        commonName: 'other',
        hosts: [],
      })
      const webhook = await start(['127.0.0.1'], { ...authority, certificatePem }, 'other')
      const client = createWebhookClient(webhook.clientConfig, surroundings)
      await expect(client.post(question, 10_000)).rejects.toThrow('x509: certificate signed by unknown authority')
      expect(webhook.requests).toEqual([])
    })

    it('is refused where its authority is no longer valid', async () => {
      const webhook = await start(['127.0.0.1'])
      const hostClock = new VirtualClock('2100-01-01T00:00:00Z')
      const client = createWebhookClient(webhook.clientConfig, { ...surroundings, hostClock })
      await expect(client.post(question, 10_000)).rejects.toThrow('x509: certificate signed by unknown authority')
      expect(webhook.requests).toEqual([])
    })

    it('is refused under another name', async () => {
      const webhook = await start(['hook.default.svc'])
      const client = createWebhookClient(webhook.clientConfig, surroundings)
      await expect(client.post(question, 10_000)).rejects.toThrow(
        'x509: certificate is not valid for any names, but wanted to match 127.0.0.1',
      )
      expect(webhook.requests).toEqual([])
    })
  })

  it.each(['//admit', '/admit/', '/admit'])('asks at a path without needless slashes: %s', async (path) => {
    const webhook = await startTestWebhook()
    const url = `https://127.0.0.1:${webhook.port}${path}`
    const client = createWebhookClient({ ...webhook.clientConfig, url }, { clock: realClock, resolve })
    await client.post(question, 10_000).finally(client.close)
    expect(webhook.addresses).toEqual([`127.0.0.1:${webhook.port}/admit?timeout=10s`])
  })

  it('asks again on a connection of its own where the one that was kept has been closed', async () => {
    const webhook = await startTestWebhook(() =>
      webhook.requests.length === 2 ? (response) => response.destroy() : {},
    )
    const client = createWebhookClient(webhook.clientConfig, { clock: realClock, resolve })
    await client.post(question, 10_000)
    expect(await client.post(question, 10_000)).toMatchObject({ response: { allowed: true } })
    expect([webhook.requests.length, webhook.connections]).toEqual([3, 2])
    client.close()
  })

  it('is answered after it was retired, and then ends its connections', async () => {
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<object>()
    const webhook = await startTestWebhook(() => {
      asked.resolve()
      return answered.promise as Promise<object & { allowed?: boolean }>
    })
    const client = createWebhookClient(webhook.clientConfig, { clock: realClock, resolve })
    const answer = client.post(question, 5000)
    await asked.promise
    client.retire()
    answered.resolve({})
    expect(await answer).toMatchObject({ response: { allowed: true } })
    await webhook.disconnected
  })
})

describe('a client of a webhook behind a service', () => {
  const clientOf = async (service: object, endpoint?: object) => {
    const webhook = await startTestWebhook()
    const { caBundle } = webhook.clientConfig
    const asked: unknown[] = []
    const config = { service: { namespace: 'default', name: 'hook', ...service }, caBundle }
    const client = createWebhookClient(config, {
      clock: realClock,
      resolve: (port) => {
        asked.push(port)
        return { host: '127.0.0.1', port: webhook.port, ...endpoint } as ServiceEndpoint
      },
    })
    return { webhook, client, asked }
  }

  it('asks an endpoint by the name of the service, at port 443 where none is said', async () => {
    const { webhook, client, asked } = await clientOf({ path: '/admit' })
    await client.post(question, 10_000)
    expect(asked).toEqual([{ namespace: 'default', name: 'hook', port: 443 }])
    expect(webhook.addresses).toEqual(['hook.default.svc:443/admit?timeout=10s'])
  })

  it('believes a certificate of that name only', async () => {
    const { client } = await clientOf({ name: 'other', port: 8443 })
    await expect(client.post(question, 10_000)).rejects.toThrow(
      /^Post "https:\/\/other.default.svc:8443\/\?timeout=10s": x509: certificate is valid for .*, not other.default.svc$/,
    )
  })

  it('looks for an endpoint each time', async () => {
    const { client, asked } = await clientOf({})
    await client.post(question, 10_000)
    await client.post(question, 10_000)
    expect(asked).toHaveLength(2)
  })

  it.each([
    ['ServiceNotFound', 'service "hook" not found'],
    ['ServicePortError', 'no service port 443 found for service "hook"'],
    ['MissingEndpoints', 'no endpoints available for service "hook"'],
  ])('says why there is none: %s', async (reason, message) => {
    const { client } = await clientOf({}, { reason })
    await expect(client.post(question, 10_000)).rejects.toThrow(
      `Post "https://hook.default.svc:443/?timeout=10s": ${message}`,
    )
  })
})
