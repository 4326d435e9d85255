import { realClock, realEnvironment, VirtualClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { ServiceEndpoint } from '../aggregation/service-endpoint.ts'
import { createPki } from '../security/certificates.ts'
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
