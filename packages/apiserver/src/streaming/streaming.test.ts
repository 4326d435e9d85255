import { once } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { badRequest, nodes, type Pod, pods } from '@coracle/api'
import { createHttpClient, type HttpClient } from '@coracle/client'
import {
  attachToPod,
  ChannelSocket,
  type CommandStreams,
  channelBytesMax,
  commandChannels,
  type ExecOptions,
  execInPod,
  messageBytesMax,
  openPortForward,
} from '@coracle/client/streaming'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AdmissionPlugin } from '../admission/admission.ts'
import { apiServerUser } from '../api-server-user.ts'
import { adminToken, TestServer } from '../http/testing/test-server.ts'
import type { NodeGateway } from '../node-gateway.ts'
import { issueClientCertificate } from '../security/certificates.ts'
import { granting } from '../security/testing/granting.ts'
import { nodeGateway, pod } from '../testing/test-core.ts'

const environment = realEnvironment()
const { clock } = environment
const key = { namespace: 'default', name: 'web' }
const execPath = '/api/v1/namespaces/default/pods/web/exec'

interface Setup extends Partial<NodeGateway> {
  readonly admission?: readonly AdmissionPlugin[]
  readonly grants?: Parameters<typeof granting>[0]
}

/** A server with a pod `web` on a node that does what the test says, and an administrator's client. */
async function served({ admission = [], grants, ...node }: Setup) {
  const authorizer = grants === undefined ? {} : { authorizer: granting(grants) }
  const server = await TestServer.start({ nodes: nodeGateway(node), admission, ...authorizer })
  const inProcess = server.core.client(apiServerUser)
  await inProcess.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
  await inProcess.create(pods, pod('web', {}, { nodeName: 'n1' }))
  await inProcess.create(pods, pod('homeless'))
  const clientOf = (credentials: object): HttpClient => {
    const client = createHttpClient({
      ...environment,
      server: server.url,
      ca: server.pki.ca.certificatePem,
      ...credentials,
    })
    onTestFinished(() => client.close())
    return client
  }
  onTestFinished(() => server.close())
  return { server, client: clientOf({ token: adminToken }), clientOf }
}

/** Both outputs and the exit code of a command. */
async function run(client: HttpClient, command: readonly string[], streams: CommandStreams & { tty?: boolean } = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await execInPod(client, clock, key, { stdout, stderr, command, ...streams }).finally(() => {
    stdout.end()
    stderr.end()
  })
  return { code, stdout: await text(stdout), stderr: await text(stderr) }
}

/** A node whose containers echo: `exec` is told the command and the streams. */
const commands =
  (handle: (command: readonly string[], streams: CommandStreams, signal: AbortSignal) => Promise<number>) =>
  async (_pod: Pod, { command }: ExecOptions) =>
  (streams: CommandStreams, signal: AbortSignal) =>
    handle(command, streams, signal)

/** The same, as with a server that has no WebSocket for it. */
const withoutWebSockets = (client: HttpClient) =>
  ({
    openWebSocket: () => Promise.reject(badRequest('Upgrade request required')),
    openSpdy: (path: string, protocols: readonly string[]) => client.openSpdy(path, protocols),
  }) as unknown as HttpClient

const transports: readonly [string, (client: HttpClient) => HttpClient][] = [
  ['WebSockets', (client) => client],
  ['SPDY', withoutWebSockets],
]

describe('pods/exec', () => {
  it.each(transports)(
    'gives a command its input, and the client both outputs and the exit code, over %s',
    async (_, over) => {
      const { client: either } = await served({
        exec: commands(async ([code], { stdin, stdout, stderr }) => {
          stdout?.write(`got ${await text(stdin ?? Readable.from([]))}`)
          stderr?.write('and an error')
          return Number(code)
        }),
      })
      const client = over(either)
      const stdin = Readable.from(['hello'])
      expect(await run(client, ['7'], { stdin })).toEqual({ code: 7, stdout: 'got hello', stderr: 'and an error' })
      expect((await run(client, ['0'])).code).toBe(0)
    },
  )

  it.each(transports)('tells why a command cannot be run, over %s', async (_, over) => {
    const { client } = await served({
      exec: commands(() => Promise.reject(new Error('exec: "nope": executable file not found in $PATH'))),
    })
    await expect(run(over(client), ['nope'])).rejects.toThrow(
      'Internal error occurred: error executing command in container: exec: "nope": executable file not found in $PATH',
    )
  })

  it.each([
    [
      'no such container',
      () => Promise.reject(new Error('container not found ("main")')),
      'container not found ("main")',
    ],
    ['what it says in the API’s terms', () => Promise.reject(badRequest('not now')), 'not now'],
  ])('refuses a connection where the node has %s', async (_what, exec, message) => {
    const { client } = await served({ exec })
    await expect(run(client, ['x'])).rejects.toThrow(message)
  })

  it.each([
    [
      'a container that the pod does not have',
      'web',
      'container=other&command=x&stdout=1',
      'container other is not valid for pod web',
    ],
    ['no stream', 'web', 'command=x', 'you must specify at least 1 of stdin, stdout, stderr'],
    ['no command', 'web', 'stdout=1', 'you must specify at least one command for the container'],
    ['a pod that is on no node', 'homeless', 'command=x&stdout=1', 'pod homeless does not have a host assigned'],
    ['a pod that is not there', 'nobody', 'command=x&stdout=1', 'pods "nobody" not found'],
  ])('refuses %s', async (_what, name, query, message) => {
    const { client } = await served({})
    const path = `/api/v1/namespaces/default/pods/${name}/exec?${query}`
    await expect(client.openWebSocket(path, ['v4.channel.k8s.io'])).rejects.toThrow(message)
  })

  it('takes all of a large input and gives all of a large output over SPDY', async () => {
    const { client } = await served({
      exec: commands(async (_command, { stdin, stdout }) => {
        if (stdin !== undefined && stdout !== undefined) await pipeline(stdin, stdout, { end: false })
        return 0
      }),
    })
    const input = 'x'.repeat(3_000_000)
    const stdout = new PassThrough()
    const said = text(stdout)
    const request = { command: ['cat'], stdin: Readable.from([input]), stdout }
    const code = await execInPod(withoutWebSockets(client), clock, key, request)
    stdout.end()
    expect([code, (await said) === input]).toEqual([0, true])
  })

  it('tells over SPDY how large the terminal is', async () => {
    const { client } = await served({
      exec: commands(async (_command, { stdout, resizes }) => {
        for await (const size of resizes ?? []) {
          stdout?.write(JSON.stringify(size))
          break
        }
        return 0
      }),
    })
    const resizes = (async function* () {
      yield { width: 80, height: 24 }
    })()
    const { stdout } = await run(withoutWebSockets(client), ['x'], { tty: true, resizes })
    expect(stdout).toBe('{"width":80,"height":24}')
  })

  it.each(transports)('is asked for as whom the client acts, over %s', async (_, over) => {
    const { clientOf } = await served({
      exec: commands(async () => 0),
      grants: { jane: ['read core pods'] },
    })
    const client = over(clientOf({ token: adminToken, impersonate: { user: 'jane' } }))
    await expect(run(client, ['x'])).rejects.toThrow('User "jane" cannot')
  })

  it('does not ask again in another way for what is not there', async () => {
    const { client } = await served({ exec: commands(async () => 0) })
    const counted = {
      openWebSocket: (path: string, protocols: readonly string[]) => client.openWebSocket(path, protocols),
      openSpdy: () => Promise.reject(new Error('asked again')),
    } as unknown as HttpClient
    const missing = { namespace: 'default', name: 'missing' }
    await expect(execInPod(counted, clock, missing, { command: ['x'] })).rejects.toThrow('pods "missing" not found')
  })

  it.each(transports)('is over when all output has been taken, over %s', async (_, over) => {
    const { client } = await served({
      exec: commands(async (_command, { stdout }) => {
        stdout?.write('one')
        return 0
      }),
    })
    const written = Promise.withResolvers<() => void>()
    const stdout = new Writable({ write: (_piece, _encoding, callback) => written.resolve(callback) })
    let isOver = false
    const running = execInPod(over(client), clock, key, { command: ['x'], stdout }).finally(() => {
      isOver = true
    })
    const takeIt = await written.promise
    // The outcome comes meanwhile.
    for (let turn = 0; turn < 200; turn++) await new Promise<void>((resolve) => clock.defer(resolve))
    expect(isOver).toBe(false)
    takeIt()
    stdout.destroy()
    expect(await running).toBe(0)
  })

  it('keeps a slow reader waiting, and its command with it', async () => {
    let taken = 0
    const total = 64 * channelBytesMax
    const source = () =>
      Readable.from(
        (function* () {
          for (; taken < total; taken += channelBytesMax) yield Buffer.alloc(channelBytesMax)
        })(),
        { objectMode: false },
      )
    const { client } = await served({
      exec: commands(async (_command, { stdout }) => {
        if (stdout !== undefined) await pipeline(source(), stdout, { end: false })
        return 0
      }),
    })
    const { socket } = await client.openWebSocket(`${execPath}?command=x&stdout=1`, ['v5.channel.k8s.io'])
    await expect.poll(() => taken, { interval: 20 }).toBeGreaterThan(0)
    const settled = async () => {
      for (let before = -1; before !== taken; ) {
        before = taken
        await new Promise<void>((resolve) => clock.setTimer(100, resolve))
      }
      return taken
    }
    expect(await settled()).toBeLessThan(total)
    const channels = new ChannelSocket(socket, { clock, isBase64: false })
    const output = channels.readable(commandChannels.stdout)
    socket.resume()
    let bytes = 0
    for await (const piece of output) bytes += piece.length
    expect(bytes).toBe(total)
  })

  it('reads no more of an input than its command takes', async () => {
    const go = Promise.withResolvers<void>()
    let held = () => 0
    const { client } = await served({
      exec: commands(async (_command, { stdin }) => {
        held = () => stdin?.readableLength ?? 0
        await go.promise
        return (await text(stdin ?? Readable.from([]))).length === 16 * channelBytesMax ? 0 : 1
      }),
    })
    const done = run(client, ['x'], { stdin: Readable.from([Buffer.alloc(16 * channelBytesMax, 'x')]) })
    await expect.poll(() => held(), { interval: 20 }).toBeGreaterThan(channelBytesMax)
    expect(held()).toBeLessThan(4 * channelBytesMax)
    go.resolve()
    expect((await done).code).toBe(0)
  })

  it('ends a command when its client goes', async () => {
    const ended = Promise.withResolvers<unknown>()
    const { client } = await served({
      exec: commands((_command, _streams, signal) => {
        signal.addEventListener('abort', () => ended.resolve('ended'))
        return new Promise<number>(() => {})
      }),
    })
    const { socket } = await client.openWebSocket(`${execPath}?command=x&stdout=1`, ['v4.channel.k8s.io'])
    socket.terminate()
    expect(await ended.promise).toBe('ended')
  })

  it('tells how large the terminal is', async () => {
    const sizes: string[] = []
    const { client } = await served({
      exec:
        async (_pod, { tty }) =>
        async ({ resizes, stderr }) => {
          for await (const { width, height } of resizes ?? []) {
            sizes.push(`${tty} ${width}x${height} ${stderr}`)
            if (sizes.length === 2) return 0
          }
          return 1
        },
    })
    async function* resizes() {
      yield { width: 80, height: 24 }
      yield { width: 100, height: 30 }
    }
    await run(client, ['x'], { tty: true, resizes: resizes() })
    expect(sizes).toEqual(['true 80x24 undefined', 'true 100x30 undefined'])
  })

  it.each([
    ['upstream’s clients', { Width: 80, Height: 24 }],
    ['its JavaScript client', { height: 24, width: 80 }],
  ])('takes the size of the terminal as %s write it', async (_who, size) => {
    const { client } = await served({
      exec: commands(async (_command, { stdout, resizes }) => {
        for await (const told of resizes ?? []) {
          stdout?.write(JSON.stringify(told))
          break
        }
        return 0
      }),
    })
    const { socket } = await client.openWebSocket(`${execPath}?command=x&stdin=1&stdout=1&tty=1`, ['v5.channel.k8s.io'])
    const channels = new ChannelSocket(socket, { clock, isBase64: false })
    const output = channels.readable(commandChannels.stdout)
    channels.writable(commandChannels.resize).write(JSON.stringify(size))
    socket.resume()
    expect(await text(output)).toBe('{"width":80,"height":24}')
  })

  it('takes an input that comes in one message', async () => {
    const { client } = await served({
      exec: commands(async (_command, { stdin, stdout }) => {
        let length = 0
        for await (const piece of stdin ?? []) length += piece.length
        stdout?.write(String(length))
        return 0
      }),
    })
    const { socket } = await client.openWebSocket(`${execPath}?command=x&stdin=1&stdout=1`, ['v5.channel.k8s.io'])
    const channels = new ChannelSocket(socket, { clock, isBase64: false })
    const output = channels.readable(commandChannels.stdout)
    const input = Buffer.alloc(messageBytesMax, 'x')
    input[0] = commandChannels.stdin
    socket.send(input)
    channels.endChannel(commandChannels.stdin)
    socket.resume()
    expect(await text(output)).toBe(String(32 * 1024 * 1024 - 1))
  })

  it.each(['channel.k8s.io', 'v3.channel.k8s.io'])('tells failures in words over %s', async (protocol) => {
    const { client } = await served({ exec: commands(async () => 3) })
    const { socket } = await client.openWebSocket(`${execPath}?command=x&stdout=1`, [protocol])
    const error = new ChannelSocket(socket, { clock, isBase64: false }).readable(commandChannels.error)
    socket.resume()
    expect(await text(error)).toBe('command terminated with non-zero exit code: exit code 3')
  })

  it('speaks base64', async () => {
    const { client } = await served({
      exec: commands(async (_command, { stdin, stdout }) => {
        for await (const piece of stdin ?? []) {
          stdout?.write(piece)
          return 0
        }
        return 1
      }),
    })
    const path = `${execPath}?command=x&stdout=1&stdin=1`
    const { socket } = await client.openWebSocket(path, ['v4.base64.channel.k8s.io'])
    const channels = new ChannelSocket(socket, { clock, isBase64: true })
    const output = channels.readable(commandChannels.stdout)
    channels.writable(commandChannels.stdin).write(Buffer.from([0, 255, 10]))
    socket.resume()
    expect((await once(output, 'data'))[0]).toEqual(Buffer.from([0, 255, 10]))
    socket.terminate()
  })

  it('has no terminal where the client says tty=False', async () => {
    const asked: unknown[] = []
    const { client } = await served({
      exec: async (_pod, options) => {
        asked.push(options.tty)
        return async () => 0
      },
    })
    const { socket } = await client.openWebSocket(`${execPath}?command=x&stdout=True&tty=False`, ['v4.channel.k8s.io'])
    socket.resume()
    await once(socket, 'close')
    expect(asked).toEqual([false])
  })

  it('is asked for by an upgrade to what both know', async () => {
    const { server, client } = await served({ exec: commands(async () => 0) })
    const path = `${execPath}?command=x&stdout=1`
    expect(await server.failure(path)).toMatchObject({ code: 400, message: 'Upgrade request required' })
    await expect(client.openWebSocket(path, ['v9.channel.k8s.io'])).rejects.toThrow(
      'client supports [v9.channel.k8s.io]',
    )
    expect(await server.failure(path, { method: 'PUT', body: {} })).toMatchObject({ code: 405 })
    // What is asked for in vain beside the request is not given.
    const plain = await server.call('/version', { headers: { connection: 'Upgrade', upgrade: 'websocket' } })
    expect([plain.code, plain.json.major]).toEqual([200, '1'])
  })

  it('is for those who may create it, by whatever method', async () => {
    const { server, clientOf } = await served({
      exec: commands(async () => 0),
      grants: { reader: ['read core pods/exec'], writer: ['read,create core pods/exec'] },
    })
    const as = (name: string, groups: readonly string[] = []) => {
      const { keyPem: key, certificatePem: cert } = issueClientCertificate(environment, server.pki.ca, {
        user: name,
        groups,
      })
      return clientOf({ key, cert })
    }
    expect((await run(as('writer'), ['x'])).code).toBe(0)
    await expect(run(as('reader'), ['x'])).rejects.toThrow(
      'pods "web" is forbidden: User "reader" cannot create resource "pods/exec"',
    )
    // The agent of the very node that the pod is on.
    await expect(run(as('system:node:n1', ['system:nodes']), ['x'])).rejects.toThrow('is forbidden')
    await expect(run(clientOf({}), ['x'])).rejects.toThrow('User "system:anonymous" cannot create resource "pods/exec"')
  })

  it('is judged by admission as a connection, with its options', async () => {
    const seen: unknown[] = []
    const admission: AdmissionPlugin = {
      name: 'no shells',
      validate: ({ operation, subresource, name }, object) => {
        if (operation !== 'CONNECT') return
        const { command } = object as unknown as { readonly command: readonly string[] }
        if (command.includes('sh')) throw badRequest('no shells here')
        seen.push({ operation, subresource, name, object })
      },
    }
    const { client } = await served({ admission: [admission], exec: commands(async () => 0) })
    await expect(run(client, ['sh'])).rejects.toThrow('no shells here')
    await run(client, ['ls', '-l'])
    const object = { kind: 'PodExecOptions', command: ['ls', '-l'], stdout: true, stderr: true }
    expect(seen).toMatchObject([{ operation: 'CONNECT', subresource: 'exec', name: 'web', object }])
  })

  it('does not hold up the end of the server', async () => {
    const begun = Promise.withResolvers<void>()
    const { server, client } = await served({
      exec: commands((_command, _streams, signal) => {
        begun.resolve()
        return untilAborted(signal)
      }),
    })
    const running = run(client, ['x'])
    running.catch(() => {})
    await begun.promise
    await server.close()
    await expect(running).rejects.toThrow()
  })
})

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

describe('pods/attach', () => {
  it('connects the client to what a container runs', async () => {
    const { client } = await served({
      attach:
        async (_pod, { container }) =>
        async ({ stdin, stdout }) => {
          stdout?.write(`${container}: `)
          if (stdin !== undefined && stdout !== undefined) await pipeline(stdin, stdout, { end: false })
          return 0
        },
    })
    const stdout = new PassThrough()
    await attachToPod(client, clock, key, { stdin: Readable.from(['hello']), stdout })
    stdout.end()
    expect(await text(stdout)).toBe('main: hello')
  })
})

describe('pods/portforward', () => {
  const echo = async () => async (port: number, stream: NodeJS.ReadWriteStream) => {
    if (port === 81) throw new Error('dial tcp 127.0.0.1:81: connect: connection refused')
    stream.write(`${port}: `)
    for await (const piece of stream) stream.write(piece)
  }

  it.each(transports)('carries any number of connections at once, over %s', async (_, over) => {
    const { client } = await served({ portForward: echo })
    const forward = await openPortForward(over(client), clock, key)
    const answers = Array.from({ length: 50 }, async (_, index) => {
      const { stream, problem } = await forward.connect(80 + (index % 2) * 10)
      stream.end(`request ${index}`)
      return [await text(stream), await problem]
    })
    const expected = Array.from({ length: 50 }, (_, index) => [`${80 + (index % 2) * 10}: request ${index}`, ''])
    expect(await Promise.all(answers)).toEqual(expected)
    forward.close()
    await forward.closed
  })

  it.each(transports)('tells where nothing listens, and goes on, over %s', async (_, over) => {
    const { client } = await served({ portForward: echo })
    const forward = await openPortForward(over(client), clock, key)
    const { problem } = await forward.connect(81)
    expect(await problem).toBe(
      'error forwarding port 81 to pod default/web: dial tcp 127.0.0.1:81: connect: connection refused',
    )
    const { stream } = await forward.connect(80)
    stream.end()
    expect(await text(stream)).toBe('80: ')
    forward.close()
  })

  it('carries one connection for each port of the query over channels', async () => {
    const { client } = await served({ portForward: echo })
    const path = '/api/v1/namespaces/default/pods/web/portforward?ports=80&ports=81'
    const { socket } = await client.openWebSocket(path, ['v4.channel.k8s.io'])
    const channels = new ChannelSocket(socket, { clock, isBase64: false })
    const [data, refusal] = [channels.readable(0), channels.readable(3)]
    channels.writable(0).write('x')
    socket.resume()
    const begins = async (stream: Readable, wanted: string) => {
      let got = ''
      for await (const piece of stream) {
        got += String(piece)
        if (got.length >= wanted.length) break
      }
      expect(got.slice(0, wanted.length)).toBe(wanted)
    }
    await begins(refusal, 'Q\0error forwarding port 81')
    await begins(data, 'P\x0080: x')
    socket.terminate()
  })

  it.each(['0', '65536', 'http', '80,x'])('refuses port %s', async (port) => {
    const { client } = await served({ portForward: echo })
    const path = `/api/v1/namespaces/default/pods/web/portforward?ports=${port}`
    await expect(client.openWebSocket(path, ['v4.channel.k8s.io'])).rejects.toThrow(
      'as a port: ports are numbers from 1',
    )
  })
})
