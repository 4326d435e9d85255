import { once } from 'node:events'
import { type AddressInfo, createServer, Server } from 'node:net'
import { seededRandom, virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Balancer } from './balancer.ts'
import { answerHealth } from './health.ts'
import { hostNetwork } from './host-network.ts'

const { clock } = virtualEnvironment()

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

it('tells load balancers how many endpoints a service has here', async () => {
  const balancer = new Balancer(clock, seededRandom(1))
  const port = await freePort()
  const frontend = {
    protocol: 'TCP',
    address: '127.0.0.1',
    port,
    healthOf: { namespace: 'default', name: 'web' },
  } as const
  const listens = vi.spyOn(Server.prototype, 'listen')
  onTestFinished(() => listens.mockRestore())
  const listening = await hostNetwork(clock).listen(frontend, balancer)
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
    return [answer.status, answer.headers.get('x-load-balancing-endpoint-weight'), await answer.json()]
  }
  const of = (localEndpoints: number) => ({
    service: { namespace: 'default', name: 'web' },
    localEndpoints,
    serviceProxyHealthy: true,
  })
  expect(await ask('/')).toEqual([503, '0', of(0)])
  const backends = ['10.0.0.1', '10.0.0.2'].map((address) => ({ address, port: 0 }))
  balancer.set(backends, undefined)
  expect(await ask('/healthz')).toEqual([200, '2', of(2)])
  // A connection that cannot be taken ends nothing.
  ;(listens.mock.contexts[0] as Server).emit('error', new Error('accept EMFILE'))
  expect(await ask('/')).toEqual([200, '2', of(2)])
  listening.close()
  await expect(ask('/')).rejects.toThrow('fetch failed')
})

it('says why it cannot listen', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const balancer = new Balancer(clock, seededRandom(1))
  const listening = answerHealth({ address: '127.0.0.1', port }, { namespace: 'default', name: 'web' }, balancer)
  await expect(listening).rejects.toMatchObject({ code: 'EADDRINUSE' })
  server.close()
})
