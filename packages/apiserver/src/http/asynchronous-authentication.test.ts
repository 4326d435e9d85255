import type { IncomingMessage } from 'node:http'
import { unauthorized } from '@coracle/api'
import { expect, it } from 'vitest'
import type { User } from '../request.ts'
import { TestServer } from './testing/test-server.ts'

/** A server that has to ask somebody who makes a request. */
async function startAsking(find: (request: IncomingMessage) => Promise<User>): Promise<TestServer> {
  return TestServer.start({ authenticate: find })
}

it('waits until it is known who makes a request', async () => {
  const found = Promise.withResolvers<User>()
  const asked = Promise.withResolvers<void>()
  const server = await startAsking(() => {
    asked.resolve()
    return found.promise
  })
  const body = { metadata: { name: 'a' }, data: { k: 'v' } }
  const answer = server.call('/api/v1/namespaces/default/configmaps', { method: 'POST', body })
  await asked.promise
  found.resolve({ name: 'admin', groups: ['system:masters'] })
  expect((await answer).code).toBe(201)
  await server.close()
})

it('refuses those of whom it is said that they are nobody', async () => {
  const server = await startAsking(() => Promise.reject(unauthorized()))
  expect(await server.failure('/api/v1/namespaces/default/configmaps')).toMatchObject({ code: 401 })
  await server.close()
})

it('lets them do what they may, and no more', async () => {
  const server = await startAsking(async () => ({ name: 'ann', groups: [] }))
  expect(await server.failure('/api/v1/namespaces/default/secrets')).toMatchObject({
    code: 403,
    message: expect.stringContaining('User "ann" cannot list resource "secrets"'),
  })
  await server.close()
})
