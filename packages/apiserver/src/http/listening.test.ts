import { once } from 'node:events'
import { connect, Server } from 'node:net'
import { createLogger, realEnvironment } from '@coracle/environment'
import { isKeptAlive, tellsKeptAlive } from '@coracle/environment/testing/kept-alive'
import { expect, it, onTestFinished, vi } from 'vitest'
import { TestServer } from './testing/test-server.ts'

it('goes on where a connection cannot be taken', async () => {
  const listens = vi.spyOn(Server.prototype, 'listen')
  onTestFinished(() => listens.mockRestore())
  const told: string[] = []
  const logger = createLogger(({ message }) => told.push(message))
  const server = await TestServer.start({ environment: realEnvironment(logger) })
  onTestFinished(() => server.close())
  ;(listens.mock.contexts[0] as Server).emit('error', new Error('accept EMFILE'))
  expect(told).toEqual(['a connection could not be taken'])
  expect((await server.call('/livez')).code).toBe(200)
})

it.skipIf(!tellsKeptAlive)(
  'finds out that a client is gone that has said nothing of it',
  { meta: { needs: 'Linux' } },
  async () => {
    const server = await TestServer.start()
    onTestFinished(() => server.close())
    const port = Number(new URL(server.url).port)
    const client = connect(port, '127.0.0.1')
    onTestFinished(() => void client.destroy())
    await once(client, 'connect')
    await expect.poll(() => isKeptAlive(port, client.localPort ?? 0)).toBe(true)
  },
)
