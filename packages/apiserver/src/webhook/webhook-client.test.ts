import { realClock, VirtualClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { startTestWebhook } from '../testing/test-webhook.ts'
import { createWebhookClient } from './webhook-client.ts'

const question = { apiVersion: 'v1', kind: 'Question', request: { uid: '1' } }

describe('a client of a webhook', () => {
  it('waits for an answer as long as it is told', async () => {
    const hostClock = new VirtualClock()
    const asked = Promise.withResolvers<void>()
    const webhook = await startTestWebhook(() => () => asked.resolve())
    const client = createWebhookClient(webhook.clientConfig, realClock, hostClock)
    const answer = client.post(question, 2500)
    await asked.promise
    await hostClock.advance(2499)
    await Promise.all([
      expect(answer).rejects.toThrow(/^Post "https:.*\?timeout=3s": context deadline exceeded$/),
      hostClock.advance(1),
    ])
  })

  it('asks again on a connection of its own where the one that was kept has been closed', async () => {
    const webhook = await startTestWebhook(() =>
      webhook.requests.length === 2 ? (response) => response.destroy() : {},
    )
    const client = createWebhookClient(webhook.clientConfig, realClock)
    await client.post(question, 1000)
    expect(await client.post(question, 1000)).toMatchObject({ response: { allowed: true } })
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
    const client = createWebhookClient(webhook.clientConfig, realClock)
    const answer = client.post(question, 5000)
    await asked.promise
    client.retire()
    answered.resolve({})
    expect(await answer).toMatchObject({ response: { allowed: true } })
    await webhook.disconnected
  })
})
