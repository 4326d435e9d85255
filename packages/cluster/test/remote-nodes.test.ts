import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import type { Node, Pod } from '@coracle/api'
import { realEnvironment, virtualEnvironment } from '@coracle/environment'
import {
  createAuthority,
  issueClientCertificate,
  issueServingCertificate,
  type KeyPair,
} from '@coracle/environment/certificates'
import { describe, expect, it, onTestFinished } from 'vitest'
import { servingHosts } from '../src/agent/serving-hosts.ts'
import { renewalTime } from '../src/certificate-keeper.ts'
import { nodeEndpoint } from '../src/remote-nodes/node-endpoint.ts'
import { RemoteNode } from '../src/remote-nodes/remote-node.ts'
import { nodeMetricsOf, podMetricsOf } from '../src/remote-nodes/summary-metrics.ts'

const environment = realEnvironment()
const authority = createAuthority(environment)
const client = issueClientCertificate(environment, authority, { user: 'kube-apiserver-kubelet-client', groups: [] })

/** A node as it says where its agent is. */
const node = (port: number, ...addresses: readonly [string, string][]): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'far' },
    status: {
      addresses: addresses.map(([type, address]) => ({ type, address })),
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  }) as Node

it.each<[Node, unknown]>([
  [node(10_250, ['Hostname', 'far'], ['InternalIP', '10.0.0.2']), { host: '10.0.0.2', port: 10_250 }],
  [node(10_250, ['Hostname', 'far'], ['ExternalIP', '192.0.2.7']), { host: '192.0.2.7', port: 10_250 }],
  [node(10_250, ['Hostname', 'far']), { host: 'far', port: 10_250 }],
  [node(10_250, ['InternalIP', '0.0.0.0'], ['Hostname', 'far']), { host: 'far', port: 10_250 }],
  [node(10_250, ['InternalIP', '224.0.0.1']), undefined],
  [node(10_250, ['Hostname', 'far/../..']), undefined],
  [node(0, ['InternalIP', '10.0.0.2']), undefined],
])('finds where an agent is by what its node says %#', (of, endpoint) => {
  expect(nodeEndpoint(of)).toEqual(endpoint)
})

describe('the agent of a node', () => {
  /** Who serves with this certificate, and what it heard. */
  async function serving({ certificatePem, keyPem }: KeyPair) {
    const heard: string[] = []
    const server = createServer({ cert: certificatePem, key: keyPem }, (socket) => {
      socket.on('data', (data) => heard.push(data.toString())).on('error', () => {})
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const endpoint = { host: '127.0.0.1', port }
    const agent = new RemoteNode({ environment, nodeName: 'far', endpoint, caPem: authority.certificatePem, client })
    return { agent, heard }
  }
  const { signal } = new AbortController()
  const named = (commonName: string, of = authority) =>
    issueServingCertificate(environment, of, { commonName, hosts: ['far', '127.0.0.1'] })

  it('is told nothing where its certificate names another, for all its addresses say', async () => {
    const { agent, heard } = await serving(named('system:node:near'))
    await expect(agent.connect(signal)).rejects.toThrow(/certificate is for "system:node:near", not system:node:far/)
    await expect(agent.json('/stats/summary', signal)).rejects.toThrow(/not system:node:far/)
    expect(heard).toEqual([])
  })

  it('is told nothing where another authority vouches for it', async () => {
    const { agent } = await serving(named('system:node:far', createAuthority(environment)))
    await expect(agent.connect(signal)).rejects.toThrow(/certificate signed by unknown authority/)
  })

  it('is told nothing where it shows what is for clients', async () => {
    const pair = issueClientCertificate(environment, authority, { user: 'system:node:far', groups: ['system:nodes'] })
    const { agent } = await serving(pair)
    await expect(agent.connect(signal)).rejects.toThrow(/dial tcp/)
  })

  it('is said not to be there in Go’s words', async () => {
    const endpoint = { host: '127.0.0.1', port: 1 }
    const agent = new RemoteNode({ environment, nodeName: 'far', endpoint, caPem: authority.certificatePem, client })
    await expect(agent.connect(signal)).rejects.toThrow('dial tcp 127.0.0.1:1: connect: connection refused')
  })
})

it('reads what is used from a summary', () => {
  const stats = { cpu: { usageNanoCores: 250_000_000 }, memory: { workingSetBytes: 2048 } }
  const summary = {
    node: stats,
    pods: [{ podRef: { uid: 'u' }, containers: [{ name: 'c', ...stats }, { name: 'd' }] }],
  }
  const pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' } } as Pod
  expect(podMetricsOf(summary, [pod, { metadata: { uid: 'other' } } as Pod], 0)).toMatchObject([
    { metadata: { name: 'p' }, containers: [{ name: 'c', usage: { cpu: '250000000n', memory: '2Ki' } }] },
  ])
  expect(nodeMetricsOf(summary, node(1), 0)?.usage).toEqual({ cpu: '250000000n', memory: '2Ki' })
  expect(nodeMetricsOf({}, node(1), 0)).toBeUndefined()
})

it('renews a certificate in the last third of its life', () => {
  const { random, clock } = virtualEnvironment()
  const pair = issueClientCertificate(realEnvironment(), authority, { user: 'a', groups: [] })
  const dayMs = 86_400_000
  for (let times = 0; times < 20; times++) {
    const inDays = (renewalTime(pair, random) - realEnvironment().clock.now()) / dayMs
    expect(inDays).toBeGreaterThan(255)
    expect(inDays).toBeLessThan(329)
  }
  expect(clock.now()).toBeDefined()
})

it.each([
  ['10.0.0.2', 'https://10.0.0.1:6443', ['far', '10.0.0.2']],
  ['127.0.0.1', 'https://127.0.0.1:6443', ['far']],
  ['10.0.0.1', 'https://10.0.0.1:6443', ['far']],
  ['fd00::1', 'https://[fd00::1]:6443', ['far']],
])('asks for a certificate for what is the node’s alone: at %s of %s', (address, server, hosts) => {
  expect(servingHosts('far', address, server)).toEqual(hosts)
})
