import { type KubernetesObject, pods, type Resource, selfSubjectReviews } from '@coracle/api'
import type { Client } from '@coracle/client'
import { expect, it, vi } from 'vitest'
import { pod, refusal, startTestCore } from './testing/test-core.ts'

/** Metadata that does not decode. */
const labels = 'none' as never
const a = { namespace: 'default', name: 'a' }
const part = (kind: string) => ({ kind, metadata: { ...a, labels } })

it('are waited for by a virtual clock where something does not decode', async () => {
  const { client, environment } = await startTestCore()
  const refused: string[] = []
  void client.create(pods, pod('a', { labels })).catch(({ message }) => refused.push(message))
  await environment.clock.settle()
  expect(refused).toEqual([expect.stringContaining('of type map[string]string')])
})

it.each<[string, (client: Client) => Promise<unknown>]>([
  ['a creation', (client) => client.create(pods, pod('b', { labels }))],
  ['an update', (client) => client.update(pods, pod('a', { labels }))],
  ['an update of the status', (client) => client.update(pods, pod('a', { labels }), { subresource: 'status' })],
  ['a patch', (client) => client.patch(pods, a, { type: 'merge', body: { metadata: { labels } } })],
  ['a strategic patch', (client) => client.patch(pods, a, { type: 'strategic', body: { metadata: { labels } } })],
  ['a binding', (client) => client.createSubresource(pods, a, 'binding', part('Binding'))],
  ['an eviction', (client) => client.createSubresource(pods, a, 'eviction', part('Eviction'))],
  [
    'what is posted and not stored',
    (client) =>
      client.create(
        selfSubjectReviews as Resource,
        { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { labels } } as KubernetesObject,
      ),
  ],
])('are loaded while time is held, for %s', async (_, write) => {
  const { client, environment } = await startTestCore()
  await client.create(pods, pod('a'))
  const hold = vi.spyOn(environment.clock, 'hold')
  expect((await refusal(write(client))).reason).toMatch(/^(BadRequest|Invalid)$/)
  expect(hold).toHaveBeenCalled()
})
