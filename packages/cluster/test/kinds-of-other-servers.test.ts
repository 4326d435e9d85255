/** What controllers that look after every kind do with kinds that a server behind the API serves. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import {
  apiServices,
  configMaps,
  type KubernetesObject,
  type OwnerReference,
  type Resource,
  resourceQuotas,
  services,
} from '@coracle/api'
import { createPki } from '@coracle/apiserver'
import { realEnvironment, silentLogger } from '@coracle/environment'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const environment = realEnvironment(silentLogger)
const namespace = 'default'
const pki = createPki(environment, ['widgets.default.svc'])
const { certificatePem: cert, keyPem: key } = pki.serving

const widgets = new Map<string, KubernetesObject>()
const watchers = new Set<ServerResponse>()
let version = 100

const tell = (type: string, object: KubernetesObject): void => {
  for (const watcher of watchers) watcher.write(`${JSON.stringify({ type, object })}\n`)
}
const widget = (name: string, ownerReferences: readonly OwnerReference[] = []): KubernetesObject => {
  const metadata = { name, namespace, uid: `widget-${name}`, resourceVersion: `${++version}`, ownerReferences }
  const made = { apiVersion: 'example.com/v1', kind: 'Widget', metadata } as KubernetesObject
  widgets.set(name, made)
  tell('ADDED', made)
  return made
}
const remove = (name: string): KubernetesObject | undefined => {
  const gone = widgets.get(name)
  if (gone === undefined) return undefined
  widgets.delete(name)
  tell('DELETED', { ...gone, metadata: { ...gone.metadata, resourceVersion: `${++version}` } })
  return gone
}

const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound' }
const resource = {
  name: 'widgets',
  namespaced: true,
  kind: 'Widget',
  verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
}

const server = createServer({ cert, key }, (request, response) => {
  const url = new URL(request.url ?? '', 'https://widgets')
  const [, apis, , , ...rest] = url.pathname.split('/')
  const answer = (body: unknown, code = 200) =>
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (apis !== 'apis' || url.pathname === '/apis') return answer(status, 404)
  if (rest.length === 0)
    return answer({ kind: 'APIResourceList', groupVersion: 'example.com/v1', resources: [resource] })
  const name = rest[0] === 'namespaces' ? rest[3] : rest[1]
  if (name !== undefined) {
    const found = request.method === 'DELETE' ? remove(name) : widgets.get(name)
    return found === undefined ? answer(status, 404) : answer(found)
  }
  if (!url.searchParams.has('watch')) {
    const metadata = { resourceVersion: `${version}` }
    return answer({ kind: 'WidgetList', apiVersion: 'example.com/v1', metadata, items: [...widgets.values()] })
  }
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
  watchers.add(response)
  response.once('close', () => watchers.delete(response))
})

describe('kinds that another server serves', () => {
  let cluster: Cluster
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cluster = await startCluster({ nodes: 0, listen: false, environment })
    const create = (of: Resource, object: object) => cluster.client.create(of, object as KubernetesObject)
    const metadata = { name: 'widgets', namespace }
    const spec = { type: 'ExternalName', externalName: 'localhost' }
    await create(services, { apiVersion: 'v1', kind: 'Service', metadata, spec })
    const { port } = server.address() as AddressInfo
    const caBundle = Buffer.from(pki.ca.certificatePem).toString('base64')
    await create(apiServices, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.example.com' },
      spec: {
        group: 'example.com',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        caBundle,
        service: { ...metadata, port },
      },
    })
  })
  afterAll(async () => {
    await cluster.stop()
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    for (const name of [...widgets.keys()]) remove(name)
  })

  const configMap = (name: string, ownerReferences: readonly OwnerReference[] = []) =>
    cluster.client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, ownerReferences },
    })
  const ownerOf = ({ apiVersion = '', kind = '', metadata }: KubernetesObject): OwnerReference => ({
    apiVersion,
    kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
  })

  it('go with what owns them, and what they own goes with them', async () => {
    await expect.poll(() => watchers.size).toBe(1)
    const owner = await configMap('owner')
    widget('owned', [ownerOf(owner)])
    await configMap('of-widget', [ownerOf(widget('owns'))])
    await cluster.client.delete(configMaps, { namespace, name: 'owner' })
    await expect.poll(() => [...widgets.keys()]).toEqual(['owns'])
    remove('owns')
    const left = () => cluster.client.list(configMaps, { namespace }).then(({ items }) => items.map(nameOf))
    await expect.poll(left).not.toContain('of-widget')
  })

  it('are counted by quotas', async () => {
    await expect.poll(() => watchers.size).toBe(1)
    for (const name of ['a', 'b']) widget(name)
    const name = 'few'
    await cluster.client.create(resourceQuotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name, namespace },
      spec: { hard: { 'count/widgets.example.com': '5' } },
    })
    const used = async () => (await cluster.client.get(resourceQuotas, { namespace, name })).status?.used
    await expect.poll(used).toEqual({ 'count/widgets.example.com': '2' })
  })
})

const nameOf = ({ metadata }: KubernetesObject): string => metadata.name ?? ''
