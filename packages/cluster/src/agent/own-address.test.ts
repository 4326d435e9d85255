import { createLogger, realEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { ownAddress } from './own-address.ts'

it('is known where the server is away, which is told once', async () => {
  const told: string[] = []
  const environment = realEnvironment(createLogger(({ message }) => told.push(message)))
  // Nobody listens at this port, and only root could.
  const address = await ownAddress('https://127.0.0.1:1', environment, new AbortController().signal)
  expect([address, told]).toEqual(['127.0.0.1', ['the server cannot be reached, will try again']])
})
