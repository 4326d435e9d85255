import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { realEnvironment, silentLogger } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { discoverCluster } from './discover-cluster.ts'

it('asks a server that says nothing no longer than somebody waits for the cluster', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const order = {
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'abcdef.0123456789abcdef',
    caCertHashes: [],
    skipsCaVerification: true,
  }
  const interrupted = new AbortController()
  const discovered = discoverCluster(order, realEnvironment(silentLogger), interrupted.signal)
  server.once('connection', () => interrupted.abort(new Error('interrupted')))
  await expect(discovered).rejects.toThrow('interrupted')
})
