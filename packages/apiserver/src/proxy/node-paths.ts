import {
  ApiError,
  badRequest,
  listing,
  nodeLog,
  nodes as nodeResource,
  type Pod,
  parseLogOptions,
  pods,
  serviceUnavailable,
} from '@coracle/api'
import type { NodeGateway } from '../node-gateway.ts'
import type { Registries } from '../registries.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { ProxyRequest } from '../subresources/subresource.ts'
import { parseProxiedName } from './proxied-name.ts'
import type { AgentTarget, NodeAnswer } from './proxy-target.ts'

/** The port that node agents have upstream: naming it is naming none. */
const kubeletPort = '10250'

const servedPaths = ['/healthz', '/pods', '/logs/', '/containerLogs/{namespace}/{pod}/{container}']

/**
 * The agent of a node; or what one in this process answers, at the paths that kubelets have. Rejects with a BadRequest for other ports:
 * nothing else of a node's host is reached through here.
 */
export async function answerForNode(
  id: string,
  { method, path, query, signal }: ProxyRequest,
  registry: ResourceRegistry,
  registries: Registries,
  nodes: NodeGateway,
): Promise<NodeAnswer | AgentTarget> {
  const { name, port } = parseProxiedName(id, 'node')
  await registry.get('', name)
  if (port !== '' && port !== kubeletPort) throw badRequest('address not allowed')
  const agent = await nodes.remoteAgent(name)
  if (agent !== undefined) return { kind: 'agent', agent }
  if (method !== 'GET' && method !== 'HEAD') {
    throw new ApiError(405, 'MethodNotAllowed', `the agent of node ${JSON.stringify(name)} can only be asked by GET`)
  }
  const ofNode = async (): Promise<readonly Pod[]> => {
    const page = await registries.of(pods)?.list({ fieldSelector: `spec.nodeName=${name}` })
    return (page?.items ?? []).map(({ object }) => object as Pod)
  }
  const [, first = '', ...rest] = path.replace(/\/$/, '').split('/')
  if (first === 'healthz' && rest.length === 0) {
    if (!nodes.isConnected(name)) {
      throw serviceUnavailable(
        `error trying to reach service: node ${JSON.stringify(name)} is not connected to this server`,
      )
    }
    return text('ok')
  }
  if (first === 'pods' && rest.length === 0) {
    const list = { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: await ofNode() }
    return { ...text(JSON.stringify(list)), contentType: 'application/json' }
  }
  if (first === 'logs') {
    const found = nodeLog(rest, await ofNode())
    if (found?.kind === 'directory') {
      return { ...text(listing(path, found.entries)), contentType: 'text/html; charset=utf-8' }
    }
    if (found?.kind === 'log') {
      const { pod, container, previous } = found
      const options = { ...parseLogOptions({ timestamps: 'true' }, pod.metadata.name ?? ''), container, previous }
      return { ...text(''), pieces: await nodes.logs(pod, options, signal) }
    }
    throw notServed(`node ${JSON.stringify(name)} has no ${JSON.stringify(path)}`)
  }
  const [namespace = '', podName = '', container = ''] = rest
  if (first === 'containerLogs' && rest.length === 3) {
    const pod = (await ofNode()).find(({ metadata }) => metadata.name === podName && metadata.namespace === namespace)
    if (pod === undefined)
      throw notServed(`pod ${JSON.stringify(`${namespace}/${podName}`)} is not on node ${JSON.stringify(name)}`)
    const options = { ...parseLogOptions(Object.fromEntries(query), podName), container }
    return { ...text(''), pieces: await nodes.logs(pod, options, signal) }
  }
  throw notServed(
    `the agent of node ${JSON.stringify(name)} does not serve ${JSON.stringify(path || '/')}: it serves ${servedPaths.join(', ')}`,
  )
}

const notServed = (message: string): ApiError => new ApiError(404, 'NotFound', message, { kind: nodeResource.plural })

const text = (body: string): NodeAnswer => ({
  kind: 'node',
  contentType: 'text/plain; charset=utf-8',
  pieces: [Buffer.from(body)],
})
