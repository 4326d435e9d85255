import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type ConnectionOptions, connect as connectOverTls } from 'node:tls'
import type { KubernetesObject, Pod, SubjectAccessReview, TokenReview } from '@coracle/api'
import { type Client, createHttpClient, type HttpClient } from '@coracle/client'
import { openRemoteStreams, UpgradeError } from '@coracle/client/streaming'
import { realEnvironment } from '@coracle/environment'
import { createAuthority, issueClientCertificate, issueServingCertificate } from '@coracle/environment/certificates'
import { isKeptAlive, tellsKeptAlive } from '@coracle/environment/testing/kept-alive'
import { describe, expect, it, onTestFinished } from 'vitest'
import { simulatedFacts } from '../node/node-facts.ts'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { testPod } from '../testing/pods.ts'
import { rightFor } from './authorization.ts'
import { createKubeletServer } from './kubelet-server.ts'
import type { ServedNode } from './served-node.ts'

const environment = realEnvironment()
const authority = createAuthority(environment)
const serving = issueServingCertificate(environment, authority, { commonName: 'system:node:node-a', hosts: ['node-a'] })
const certificateOf = (user: string, ...groups: string[]) =>
  issueClientCertificate(environment, authority, { user, groups })
const admin = certificateOf('admin', 'system:masters')
const peer = certificateOf('system:node:node-b', 'system:nodes')

type Review = SubjectAccessReview['spec']

interface Setup extends Partial<ServedNode> {
  /** Whether somebody may do something; everybody everything unless given. */
  readonly allows?: (review: Review) => boolean
}

/** A server of a node with a pod `web`, and a way to ask it. */
async function served({ allows = () => true, ...node }: Setup = {}) {
  const reviews: Review[] = []
  const create = async (resource: { plural: string }, object: KubernetesObject): Promise<unknown> => {
    if (resource.plural === 'tokenreviews') {
      const isGood = (object as TokenReview).spec.token === 'good'
      return { ...object, status: isGood ? { authenticated: true, user: { username: 'bot', groups: ['bots'] } } : {} }
    }
    const { spec } = object as SubjectAccessReview
    reviews.push(spec)
    return { ...object, status: { allowed: allows(spec) } }
  }
  const pod = testPod()
  const runtime = createSimulatedRuntime({ environment })
  const server = createKubeletServer({
    environment,
    client: { create } as unknown as Client,
    caPem: authority.certificatePem,
    nodeNamed: (name) =>
      name === '' || name === 'node-a'
        ? ({
            nodeName: 'node-a',
            nodeAddress: '127.8.8.8',
            facts: simulatedFacts('node-a'),
            runtime,
            usage: { podMetrics: async () => [], nodeMetrics: async () => undefined },
            pods: () => [pod],
            ...node,
          } as ServedNode)
        : undefined,
    certificateOf: () => serving,
    configuration: { kind: 'KubeletConfiguration', port: 10_250 },
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    await server.close()
    await runtime.close()
  })
  const tls = { ca: authority.certificatePem, servername: 'node-a' }
  const as = ({ certificatePem: cert, keyPem: key } = admin) => ({ cert, key })
  const ask = async (path: string, options: object = as(), method = 'GET') => {
    const request = httpsRequest({ host: '127.0.0.1', port, path, method, agent: false, ...tls, ...options }).end()
    const [response] = await once(request, 'response')
    return { code: response.statusCode as number, body: await text(response) }
  }
  const client = createHttpClient({
    ...environment,
    server: `https://127.0.0.1:${port}`,
    ca: authority.certificatePem,
    serverName: 'node-a',
    ...as(),
  })
  onTestFinished(() => client.close())
  return { server, port, ask, as, client, reviews, tls, pod }
}

it.skipIf(!tellsKeptAlive)(
  'finds out that a client is gone that has said nothing of it',
  { meta: { needs: 'Linux' } },
  async () => {
    const { port } = await served()
    const client = connect(port, '127.0.0.1')
    onTestFinished(() => void client.destroy())
    await once(client, 'connect')
    await expect.poll(() => isKeptAlive(port, client.localPort ?? 0)).toBe(true)
  },
)

describe('who asks a node', () => {
  it('is known by a certificate of the cluster, or by a token that the API knows', async () => {
    const { ask, reviews } = await served()
    expect(await ask('/healthz')).toEqual({ code: 200, body: 'ok' })
    expect(await ask('/healthz', { headers: { authorization: 'Bearer good' } })).toEqual({ code: 200, body: 'ok' })
    expect(reviews.map(({ user, groups }) => [user, groups])).toEqual([
      ['admin', ['system:masters', 'system:authenticated']],
      ['bot', ['bots']],
    ])
  })

  it.each([
    ['nothing', {}],
    ['a wrong token', { headers: { authorization: 'Bearer bad' } }],
    [
      'a certificate of somebody else',
      (() => {
        const { certificatePem: cert, keyPem: key } = issueClientCertificate(
          environment,
          createAuthority(environment),
          {
            user: 'admin',
            groups: ['system:masters'],
          },
        )
        return { cert, key }
      })(),
    ],
  ])('is refused who shows %s', async (_, credentials) => {
    const { ask, reviews } = await served()
    expect(await ask('/pods', credentials)).toEqual({ code: 401, body: 'Unauthorized\n' })
    expect(reviews).toEqual([])
  })

  it('needs the right to what is asked for, of which the API is asked once', async () => {
    const { ask, reviews } = await served({
      allows: ({ resourceAttributes }) => resourceAttributes?.subresource === 'pods',
    })
    expect((await ask('/pods')).code).toBe(200)
    expect((await ask('/pods')).code).toBe(200)
    expect(await ask('/configz')).toEqual({
      code: 403,
      body: 'Forbidden (user=admin, verb=get, resource=nodes, subresource(s)=[configz proxy])\n',
    })
    expect(reviews.map(({ resourceAttributes }) => resourceAttributes)).toEqual(
      ['pods', 'configz', 'proxy'].map((subresource) => ({
        verb: 'get',
        version: 'v1',
        resource: 'nodes',
        subresource,
        name: 'node-a',
      })),
    )
  })

  it('needs the right to metrics, or to statistics, to scrape them', async () => {
    const only = async (right: string) => {
      const { ask } = await served({ allows: ({ resourceAttributes }) => resourceAttributes?.subresource === right })
      const paths = ['/metrics', '/metrics/cadvisor', '/metrics/probes', '/metrics/resource', '/stats/summary']
      return Promise.all(paths.map(async (path) => (await ask(path)).code))
    }
    expect(await only('metrics')).toEqual([200, 200, 200, 200, 403])
    expect(await only('stats')).toEqual([403, 403, 403, 403, 200])
    expect(await only('proxy')).toEqual([403, 403, 403, 403, 403])
  })

  it('is not let through where the API cannot be asked', async () => {
    const { ask } = await served({
      allows: () => {
        throw new Error('away')
      },
    })
    expect((await ask('/pods')).code).toBe(500)
  })
})

it.each([
  ['GET', '/stats/summary', 'get', ['stats']],
  ['GET', '/metrics/resource', 'get', ['metrics']],
  ['GET', '/logs/pods', 'get', ['log']],
  ['GET', '/pods', 'get', ['pods', 'proxy']],
  ['GET', '/podsecrets', 'get', ['proxy']],
  ['GET', '/runningpods', 'get', ['pods', 'proxy']],
  ['GET', '/healthz/ping', 'get', ['healthz', 'proxy']],
  ['GET', '/configz', 'get', ['configz', 'proxy']],
  ['GET', '/containerLogs/a/b/c', 'get', ['proxy']],
  ['POST', '/exec/a/b/c', 'create', ['proxy']],
  // A WebSocket is opened by a GET.
  ['GET', '/exec/a/b/c', 'create', ['proxy']],
  ['DELETE', '/anything', 'delete', ['proxy']],
])('%s %s takes the right to %s %j', (method, path, verb, subresources) => {
  expect(rightFor(method, path)).toEqual({ verb, subresources })
})

describe('what a node answers', () => {
  it('is at the paths of kubelets', async () => {
    const { ask, pod } = await served()
    expect(JSON.parse((await ask('/pods')).body)).toEqual({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {},
      items: [pod],
    })
    expect(JSON.parse((await ask('/configz')).body)).toEqual({
      kubeletconfig: { kind: 'KubeletConfiguration', port: 10_250 },
    })
    expect(JSON.parse((await ask('/runningpods/')).body).items).toEqual([])
    expect(JSON.parse((await ask('/stats/summary')).body)).toMatchObject({ node: { nodeName: 'node-a' }, pods: [] })
    expect((await ask('/metrics')).body).toContain('kubelet_node_name{node="node-a"} 1')
    expect((await ask('/metrics/resource')).body).toContain('resource_scrape_error 0')
    expect((await ask('/logs/')).body).toContain('<a href="pods/">')
    expect((await ask('/nothing')).code).toBe(404)
    expect((await ask('/pods', undefined, 'POST')).code).toBe(405)
    expect((await ask('/pods/../pods')).code).toBe(400)
    expect((await ask('/%2Fexec')).code).toBe(400)
  })

  it('is another node where its name is asked for by SNI, or none', async () => {
    const { ask } = await served()
    expect(
      (await ask('/healthz', { ...certificateAs(), servername: 'node-b', checkServerIdentity: () => undefined })).code,
    ).toBe(404)
  })

  it('are logs as they come, with the options of the query', async () => {
    const asked: unknown[] = []
    const { ask } = await served({
      async *logs(_pod, options) {
        asked.push(options)
        yield Buffer.from('one\n')
        yield Buffer.from('two\n')
      },
    })
    expect(await ask('/containerLogs/default/web/web?follow=true&tailLines=3')).toEqual({
      code: 200,
      body: 'one\ntwo\n',
    })
    expect(asked).toEqual([{ container: 'web', follow: true, previous: false, timestamps: false, tailLines: 3 }])
    expect(await ask('/containerLogs/default/nobody/web')).toEqual({ code: 404, body: 'pod "nobody" does not exist\n' })
    expect(await ask('/containerLogs/default/web/other')).toEqual({
      code: 404,
      body: 'container "other" not found in pod "web"\n',
    })
    expect((await ask('/containerLogs/default/web/web?tailLines=-1')).code).toBe(422)
  })

  it.each(['webSocket', 'spdy'])('are commands with their streams over %s', async (transport) => {
    const { client } = await served({
      exec:
        async (_pod: Pod, { command }) =>
        async ({ stdin, stdout }) => {
          const input = stdin === undefined ? '' : await text(stdin)
          stdout?.write(`${command.join(' ')}: ${input}`)
          return 3
        },
    })
    const { clock } = environment
    const path = '/exec/default/web/web?command=cat&command=-n&input=1&output=1'
    const streams = { stdin: true, stdout: true, stderr: false, resize: false }
    const remote = await openRemoteStreams(
      transport === 'spdy' ? withoutWebSockets(client) : client,
      clock,
      path,
      streams,
    )
    const [output, outcome] = [text(remote.readable('stdout')), text(remote.readable('error'))]
    remote.writable('stdin').end('hello')
    remote.endInput()
    remote.start()
    expect(await output).toBe('cat -n: hello')
    expect(JSON.parse(await outcome)).toMatchObject({ reason: 'NonZeroExitCode' })
    remote.close()
  })

  it('are refusals in words where a container does not run', async () => {
    const { ask } = await served({
      exec: async () => {
        throw new Error('container not found ("web")')
      },
    })
    const upgrade = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': 'v4.channel.k8s.io' }
    const as = { ...certificateAs(), headers: upgrade }
    expect(await ask('/exec/default/web/web?command=ls&output=1', as, 'POST')).toEqual({
      code: 500,
      body: 'container not found ("web")\n',
    })
    expect((await ask('/exec/default/web/web?output=1', as, 'POST')).code).toBe(400)
  })

  it('are no commands to who asks for no connection', async () => {
    const { ask } = await served({ exec: async () => async () => 0 })
    expect(await ask('/exec/default/web/web?command=ls&output=1', certificateAs(), 'POST')).toEqual({
      code: 400,
      body: 'Upgrade request required\n',
    })
  })
})

describe('directories of volumes', () => {
  const volumes = {
    create: async (name: string) => `/data/${name}`,
    remove: async (name: string, path: string) => {
      if (path !== `/data/${name}`) throw new Error(`volume ${name} is not at ${path}`)
    },
  }

  it('are made and removed for who has the right to all of the node', async () => {
    const { ask, as, reviews } = await served({ volumes })
    expect(await ask('/localVolumes/pvc-1', as(), 'PUT')).toEqual({ code: 200, body: '{"path":"/data/pvc-1"}' })
    expect(await ask('/localVolumes/pvc-1?path=%2Fdata%2Fpvc-1', as(), 'DELETE')).toEqual({ code: 200, body: '' })
    expect(reviews.map(({ resourceAttributes: of }) => `${of?.verb} ${of?.resource}/${of?.subresource}`)).toEqual([
      'update nodes/proxy',
      'delete nodes/proxy',
    ])
    const closed = await served({ volumes, allows: ({ resourceAttributes }) => resourceAttributes?.verb === 'get' })
    for (const method of ['PUT', 'DELETE']) {
      expect((await closed.ask('/localVolumes/pvc-1', as(peer), method)).code).toBe(403)
    }
  })

  it('are left alone where something else is meant', async () => {
    const { ask, as } = await served({ volumes })
    expect(await ask('/localVolumes/pvc-1?path=%2Fetc', as(), 'DELETE')).toEqual({
      code: 500,
      body: 'volume pvc-1 is not at /etc\n',
    })
    expect((await ask('/localVolumes/..%2Fpvc-1', as(), 'PUT')).code).toBe(400)
    for (const [path, method, code] of [
      ['/localVolumes/pvc-1', 'GET', 405],
      ['/localVolumes/pvc-1', 'POST', 405],
      ['/localVolumes', 'PUT', 404],
      ['/localVolumes/a/b', 'PUT', 404],
    ] as const)
      expect((await ask(path, as(), method)).code).toBe(code)
  })

  it('are not there where a node has none', async () => {
    const { ask, as } = await served()
    expect((await ask('/localVolumes/pvc-1', as(), 'PUT')).code).toBe(404)
  })
})

describe('the way to pods', () => {
  /** A node whose runtime has a pod at this address. */
  const runtimeAt = (address: string) =>
    ({ listPodSandboxes: async () => [{ ready: true, addresses: [address] }] }) as unknown as ServedNode['runtime']

  /** A connection to a pod through the node, or how it was refused. */
  async function connected(port: number, target: string, tls: object) {
    const options: ConnectionOptions & { allowHalfOpen: boolean } = { host: '127.0.0.1', port, allowHalfOpen: true }
    const socket = connectOverTls({ ...options, ...tls })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return { socket, answer: answer.toString() }
  }

  async function echo(host: string) {
    const server = createTcpServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(0, host)
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return (server.address() as AddressInfo).port
  }

  it('is open to nodes of the cluster, each end for itself', async () => {
    const target = await echo('127.0.0.1')
    const { port, tls, as } = await served({ runtime: runtimeAt('127.0.0.1'), allows: () => false } as Setup)
    const { socket, answer } = await connected(port, `127.0.0.1:${target}`, { ...tls, ...as(peer) })
    expect(answer).toBe('HTTP/1.1 200 Connection established\r\n\r\n')
    const output = text(socket.pipe(new PassThrough()))
    socket.end('to the pod and back')
    expect(await output).toBe('to the pod and back')
  })

  it('leads nowhere but to pods of the node', async () => {
    const target = await echo('127.0.0.1')
    const { port, tls, as } = await served({ runtime: runtimeAt('127.9.9.9') } as Setup)
    const { answer } = await connected(port, `127.0.0.1:${target}`, { ...tls, ...as(peer) })
    expect(answer).toContain('404')
    expect(answer).toContain('no pod of this node has the address 127.0.0.1')
  })

  it('leads to pods in the network of their host, at the ports that they declare', async () => {
    const target = await echo('127.0.0.1')
    const other = await echo('127.0.0.1')
    const declaring = (port: number, protocol = 'TCP', more: object = { hostNetwork: true }) => {
      const pod = testPod()
      const containers = [{ ...pod.spec.containers[0], ports: [{ containerPort: port, protocol }] }]
      return { ...pod, spec: { ...pod.spec, ...more, containers } } as Pod
    }
    const { metadata } = testPod()
    const answerOf = async (pod: Pod, to: string, sandbox: object = { ready: true, podUid: metadata.uid }) => {
      const runtime = { listPodSandboxes: async () => [{ addresses: [], ...sandbox }] }
      const setup = { runtime, nodeAddress: '127.0.0.1', pods: () => [pod] } as unknown as Setup
      const { port, tls, as } = await served(setup)
      return (await connected(port, to, { ...tls, ...as(peer) })).answer.split('\r\n')[0]
    }
    expect(await answerOf(declaring(target), `127.0.0.1:${target}`)).toContain('200')
    // What else listens there, another address, another protocol, a pod that does not run, one that has a network of its own.
    expect(await answerOf(declaring(target), `127.0.0.1:${other}`)).toContain('404')
    expect(await answerOf(declaring(target), `127.0.0.2:${target}`)).toContain('404')
    expect(await answerOf(declaring(target, 'UDP'), `127.0.0.1:${target}`)).toContain('404')
    const isOver = { ready: false, podUid: metadata.uid }
    expect(await answerOf(declaring(target), `127.0.0.1:${target}`, isOver)).toContain('404')
    expect(await answerOf(declaring(target, 'TCP', {}), `127.0.0.1:${target}`)).toContain('404')
  })

  it('is closed to others without the right to the node', async () => {
    const target = await echo('127.0.0.1')
    const { port, tls, as } = await served({ runtime: runtimeAt('127.0.0.1'), allows: () => false } as Setup)
    const { answer } = await connected(port, `127.0.0.1:${target}`, { ...tls, ...as(certificateOf('jane')) })
    expect(answer).toContain('403')
    expect((await connected(port, `127.0.0.1:${target}`, tls)).answer).toContain('401')
  })

  it('says that nothing listens there', async () => {
    const { port, tls, as } = await served({ runtime: runtimeAt('127.0.0.1') } as Setup)
    const { answer } = await connected(port, '127.0.0.1:1', { ...tls, ...as(peer) })
    expect(answer).toContain('502')
    expect(answer).toContain('connection refused')
  })
})

const certificateAs = () => ({ cert: admin.certificatePem, key: admin.keyPem })

/** The same client, whose server knows no WebSockets. */
function withoutWebSockets(client: HttpClient): HttpClient {
  return {
    openWebSocket: async () => {
      throw new UpgradeError('no')
    },
    openSpdy: (path: string, protocols: readonly string[]) => client.openSpdy(path, protocols),
  } as unknown as HttpClient
}
