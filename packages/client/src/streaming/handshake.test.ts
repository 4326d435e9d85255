import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { VirtualClock } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { createTransport } from '../http-transport.ts'

it.each(['openWebSocket', 'openSpdy'] as const)('%s gives up a server that does not answer', async (open) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clock = new VirtualClock()
  const transport = createTransport({ server: url }, { clock })
  onTestFinished(async () => {
    await transport.close()
    server.close()
  })
  const connected = once(server, 'connection') as Promise<[Socket]>
  const opening = expect(transport[open]?.('/exec', ['v5.channel.k8s.io'])).rejects.toThrow(
    `cannot reach ${url}: it has not answered within 60 s`,
  )
  const [socket] = await connected
  const closed = once(socket, 'close')
  await once(socket, 'data')
  await clock.advance('60s')
  await opening
  await closed
})
