import { Server } from 'node:net'
import { createLogger, realEnvironment } from '@coracle/environment'
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
