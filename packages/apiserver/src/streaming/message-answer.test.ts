import { once } from 'node:events'
import { configMaps, pods } from '@coracle/api'
import { createHttpClient } from '@coracle/client'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { adminToken, TestServer } from '../http/testing/test-server.ts'
import type { NodeGateway } from '../node-gateway.ts'
import { nodeGateway, pod } from '../testing/test-core.ts'

const environment = realEnvironment()
const logPath = '/api/v1/namespaces/default/pods/web/log'
const watchPath = '/api/v1/namespaces/default/configmaps?watch=true'

/** A server with a pod `web` on a node, and what opens WebSockets to it and collects their messages. */
async function served(node: Partial<NodeGateway> = {}) {
  const server = await TestServer.start({ nodes: nodeGateway(node) })
  const client = createHttpClient({
    ...environment,
    server: server.url,
    ca: server.pki.ca.certificatePem,
    token: adminToken,
  })
  onTestFinished(async () => {
    await client.close()
    await server.close()
  })
  await client.create(pods, pod('web', {}, { nodeName: 'n1' }))
  const open = async (path: string, protocols: readonly string[]) => {
    const { socket, protocol } = await client.openWebSocket(path, protocols)
    const messages: { readonly text: string; readonly isBinary: boolean }[] = []
    socket.on('message', (data, isBinary) => messages.push({ text: String(data), isBinary }))
    const closed = once(socket, 'close').then(([code]) => code as number)
    socket.resume()
    return { socket, protocol, messages, closed }
  }
  return { server, client, open }
}

describe('a token that is shown as a subprotocol', () => {
  const shown = (token: string) => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
  const without = (server: TestServer) => {
    const client = createHttpClient({ ...environment, server: server.url, ca: server.pki.ca.certificatePem })
    onTestFinished(() => client.close())
    return client
  }

  it('says who comes, and is told to nobody', async () => {
    const { server } = await served({ logs: async () => pieces('one\n') })
    const { socket, protocol } = await without(server).openWebSocket(logPath, [shown(adminToken), 'binary.k8s.io'])
    expect(protocol).toBe('binary.k8s.io')
    socket.terminate()
  })

  it.each<[string, readonly string[]]>([
    ['is not good', [shown('other'), 'binary.k8s.io']],
    ['is alone', [shown(adminToken)]],
    ['is one of two', [shown(adminToken), shown(adminToken), 'binary.k8s.io']],
    ['is not in base64url', ['base64url.bearer.authorization.k8s.io.a+b=', 'binary.k8s.io']],
  ])('is refused where it %s', async (_, protocols) => {
    const { server } = await served()
    await expect(without(server).openWebSocket(logPath, protocols)).rejects.toMatchObject({ code: 401 })
  })

  it('is none where it is empty', async () => {
    const { server } = await served()
    const opened = without(server).openWebSocket(logPath, [shown(''), 'binary.k8s.io'])
    await expect(opened).rejects.toMatchObject({ code: 403, message: expect.stringContaining('system:anonymous') })
  })
})

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

describe('a log over a WebSocket', () => {
  it('comes in messages of bytes after an empty one, and ends with the connection', async () => {
    const { open } = await served({ logs: async () => pieces('one\n', 'two\n') })
    const { protocol, messages, closed } = await open(logPath, ['other', 'binary.k8s.io'])
    expect(await closed).toBe(1000)
    expect(protocol).toBe('binary.k8s.io')
    expect(messages).toEqual(['', 'one\n', 'two\n'].map((text) => ({ text, isBinary: true })))
  })

  it('comes as text in base64 where the client wants that', async () => {
    const { open } = await served({ logs: async () => pieces('one\n') })
    const { messages, closed } = await open(logPath, ['base64.binary.k8s.io'])
    await closed
    expect(messages).toEqual(['', Buffer.from('one\n').toString('base64')].map((text) => ({ text, isBinary: false })))
  })

  it('is refused as any other request, and where no subprotocol is known', async () => {
    const { open } = await served()
    await expect(open(logPath.replace('web', 'gone'), ['binary.k8s.io'])).rejects.toMatchObject({ code: 404 })
    await expect(open(logPath, ['v4.channel.k8s.io'])).rejects.toMatchObject({ code: 403 })
  })

  it('breaks off with the connection where it cannot be read further', async () => {
    const { open } = await served({
      async logs() {
        return (async function* () {
          yield Buffer.from('one\n')
          throw new Error('the disk is gone')
        })()
      },
    })
    const { closed } = await open(logPath, ['binary.k8s.io'])
    expect(await closed).toBe(1006)
  })

  it('is read no further when the client goes', async () => {
    const stopped = Promise.withResolvers<void>()
    const { open } = await served({
      async logs(_pod, _options, signal) {
        signal.addEventListener('abort', () => stopped.resolve())
        return (async function* () {
          yield Buffer.from('one\n')
          await stopped.promise
        })()
      },
    })
    const { socket } = await open(logPath, ['binary.k8s.io'])
    socket.close()
    await stopped.promise
  })
})

describe('a watch over a WebSocket', () => {
  const configMap = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
  })

  it('comes with a message of text for each event, under whatever subprotocol the client names', async () => {
    const { client, open } = await served()
    await client.create(configMaps, configMap('first'))
    const { socket, protocol, messages } = await open(watchPath, ['base64.binary.k8s.io'])
    expect(protocol).toBe('base64.binary.k8s.io')
    await expect.poll(() => messages.length).toBe(1)
    await client.create(configMaps, configMap('second'))
    await expect.poll(() => messages.length).toBe(2)
    expect(messages.map(({ text }) => JSON.parse(text))).toMatchObject([
      { type: 'ADDED', object: { metadata: { name: 'first' } } },
      { type: 'ADDED', object: { metadata: { name: 'second' } } },
    ])
    expect(messages.map(({ isBinary }) => isBinary)).toEqual([false, false])
    socket.close()
  })

  it('ends with the server', async () => {
    const { server, open } = await served()
    const { closed } = await open(watchPath, ['any'])
    await server.close()
    expect(await closed).toBe(1000)
  })

  it('is refused as any other request', async () => {
    const { open } = await served()
    await expect(open(`${watchPath}&resourceVersion=x`, ['any'])).rejects.toMatchObject({ code: 500 })
  })
})
