import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { connect as connectOverTls } from 'node:tls'
import { ApiError } from '@coracle/api'
import { realEnvironment } from '@coracle/environment'
import { issueClientCertificate } from '@coracle/environment/certificates'
import { expect, it, onTestFinished } from 'vitest'
import { type ConnectToPod, createPodRelay } from './pod-relay.ts'
import { adminToken, TestServer } from './testing/test-server.ts'

async function served(connectToPod: ConnectToPod) {
  const server = await TestServer.start({ connectToPod })
  onTestFinished(() => server.close())
  const certificateOf = (user: string, ...groups: string[]) => {
    const { certificatePem: cert, keyPem: key } = issueClientCertificate(realEnvironment(), server.pki.ca, {
      user,
      groups,
    })
    return { cert, key }
  }
  /** Asks for a connection to a pod of node-0; all that comes back, after what is sent has ended. */
  const ask = async (credentials: object, headers = '', sent = ''): Promise<string> => {
    const options = { allowHalfOpen: true, port: Number(new URL(server.url).port), host: '127.0.0.1', ...credentials }
    const socket = connectOverTls({ ...options, ca: server.pki.ca.certificatePem })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    socket.end(`CONNECT 127.0.0.1:8080 HTTP/1.1\r\nHost: x\r\ncoracle-node: node-0\r\n${headers}\r\n${sent}`)
    return text(socket)
  }
  return { ask, certificateOf }
}

it('leads nodes of the cluster to pods of this process, each end for itself', async () => {
  // It answers when its client has said all.
  const echo = createServer({ allowHalfOpen: true }, (socket) => {
    void text(socket).then((asked) => socket.end(`you asked ${asked}`))
  }).listen(0, '127.0.0.1')
  await once(echo, 'listening')
  onTestFinished(() => void echo.close())
  const asked: string[] = []
  const { ask, certificateOf } = await served(async (nodeName, target) => {
    asked.push(`${nodeName} ${target}`)
    return connect({ host: '127.0.0.1', port: (echo.address() as AddressInfo).port, allowHalfOpen: true })
  })
  const answer = await ask(certificateOf('system:node:far', 'system:nodes'), '', 'why')
  expect(answer).toBe('HTTP/1.1 200 Connection established\r\n\r\nyou asked why')
  expect(asked).toEqual(['node-0 127.0.0.1:8080'])
})

it('is closed to everybody else, administrators included', async () => {
  const { ask, certificateOf } = await served(async () => {
    throw new Error('never asked')
  })
  expect(await ask({}, `Authorization: Bearer ${adminToken}\r\n`)).toMatch(/^HTTP\/1.1 403 /)
  expect(await ask({}, 'Authorization: Bearer wrong\r\n')).toMatch(/^HTTP\/1.1 401 /)
  expect(await ask({})).toMatch(/^HTTP\/1.1 403 /)
  expect(await ask(certificateOf('system:node:far'))).toMatch(/^HTTP\/1.1 403 /)
  expect(await ask(certificateOf('jane', 'system:nodes'))).toMatch(/^HTTP\/1.1 403 /)
})

it.each([
  [
    new ApiError(404, 'NotFound', 'node "node-0" is not here'),
    /^HTTP\/1.1 404 Not Found[\s\S]*node "node-0" is not here\n$/,
  ],
  [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), /^HTTP\/1.1 502 Bad Gateway[\s\S]*refused\n$/],
])('says why there is no connection: %s', async (error, answer) => {
  const { ask, certificateOf } = await served(() => Promise.reject(error))
  expect(await ask(certificateOf('system:node:far', 'system:nodes'))).toMatch(answer)
})

it('ends the connection of whoever is refused, though that does not end its own side', async () => {
  const answer = createPodRelay({
    authenticate: () => ({ name: 'jane', groups: [] }),
    connectToPod: undefined,
    logger: realEnvironment().logger,
    onIdentified: () => {},
  })
  const [connection, client] = duplexPair()
  await answer({} as IncomingMessage, connection, Buffer.alloc(0))
  expect(await text(client)).toMatch(/^HTTP\/1.1 403 /)
  if (!connection.closed) await once(connection, 'close')
})
