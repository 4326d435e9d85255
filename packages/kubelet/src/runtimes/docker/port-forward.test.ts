import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { InspectedContainer } from './answers.ts'
import { forwardToSandbox } from './port-forward.ts'

const patient = new AbortController().signal
const isRoot = process.platform === 'linux' && process.getuid?.() === 0

/** A sandbox in the network of this process, at an address where nothing listens. */
const sandbox: InspectedContainer = {
  Id: 's1',
  Created: '',
  Image: '',
  State: { Status: 'running', Running: true, ExitCode: 0, Pid: process.pid, StartedAt: '', FinishedAt: '' },
  Config: { Image: '', Labels: null },
  NetworkSettings: { Networks: { bridge: { IPAddress: '127.77.77.77' } } },
}

/** A server that listens on 127.0.0.1 alone. It leaves it to `serve` to end its side. */
async function servedOnLoopback(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    onTestFinished(() => void socket.destroy())
    serve(socket.on('error', () => {}))
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as { readonly port: number }).port
}

describe.skipIf(!isRoot)(
  'a connection to a server that listens on loopback alone',
  { meta: { needs: 'root on Linux' } },
  () => {
    it('ends when the server has ended its side, though the client has not', async () => {
      const port = await servedOnLoopback((socket) => socket.end('here'))
      const [near, far] = duplexPair()
      const forwarded = forwardToSandbox(sandbox, port, far, patient)
      expect(await text(near)).toBe('here')
      await forwarded
    })

    it('may be ended by the client before the server answers', async () => {
      const port = await servedOnLoopback((socket) => {
        void text(socket).then((words) => socket.end(`${words}!`))
      })
      const [near, far] = duplexPair()
      const forwarded = forwardToSandbox(sandbox, port, far, patient)
      near.end('hello')
      expect(await text(near)).toBe('hello!')
      await forwarded
    })

    it('is let go of when the client goes', async () => {
      const { promise: connected, resolve } = Promise.withResolvers<Socket>()
      const [, far] = duplexPair()
      const forwarded = forwardToSandbox(sandbox, await servedOnLoopback(resolve), far, patient)
      const socket = await connected
      far.destroy()
      await Promise.all([text(socket).catch(() => {}), forwarded])
    })

    it('is refused where nothing listens there either, which is known before the stream ends', async () => {
      const [near, far] = duplexPair()
      near.resume()
      const forwarded = forwardToSandbox(sandbox, 9, far, patient)
      await expect(forwarded).rejects.toThrow('dial tcp 127.0.0.1:9: connect: connection refused')
      expect(near.readableEnded).toBe(false)
    })
  },
)
