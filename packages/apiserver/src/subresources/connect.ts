import {
  badRequest,
  isTrue,
  type KubernetesObject,
  type Pod,
  podAttachOptionsSchema,
  podExecOptionsSchema,
  podPortForwardOptionsSchema,
} from '@coracle/api'
import type { CommandOptions } from '@coracle/client/streaming'
import type { AdmittedKind } from '../admission/admission.ts'
import type { NodeAgent, NodeGateway } from '../node-gateway.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { RequestContext } from '../request.ts'
import { chosenContainer } from './chosen-container.ts'
import type { AgentStreams, Connectable } from './subresource.ts'

/** Ports in one query, at most. */
export const queryPortsMax = 100

const execKind = { group: '', version: 'v1', kind: 'PodExecOptions', schema: podExecOptionsSchema }
const attachKind = { group: '', version: 'v1', kind: 'PodAttachOptions', schema: podAttachOptionsSchema }
const portForwardKind = {
  group: '',
  version: 'v1',
  kind: 'PodPortForwardOptions',
  schema: podPortForwardOptionsSchema,
}

/** What a connection has of the options of writes. */
const connectOptions = { dryRun: false, fieldManager: '', fieldValidation: 'Ignore' } as const

/** `pods/exec`: runs a command in a container, with streams to the client. */
export function execSubresource(registry: ResourceRegistry, nodes: NodeGateway): Connectable {
  return {
    async connect(context, namespace, name, query) {
      const options = streamsOf(query)
      const command = query.getAll('command')
      await admitConnect(registry, context, namespace, name, execKind, 'exec', { ...shown(options, query), command })
      const pod = await assignedPod(registry, namespace, name)
      const container = chosenContainer(pod, query.get('container') ?? '')
      checkStreams(options)
      if (command.length === 0 || command[0] === '') {
        throw badRequest('you must specify at least one command for the container: command is empty')
      }
      const agent = await nodes.remoteAgent(pod.spec.nodeName ?? '')
      if (agent !== undefined) return commandOfAgent(agent, ['exec', namespace, name, container], options, command)
      const run = await nodes.exec(pod, { container, command, tty: options.tty })
      return { kind: 'command', options, run }
    },
  }
}

/** `pods/attach`: connects the client to what a container runs. */
export function attachSubresource(registry: ResourceRegistry, nodes: NodeGateway): Connectable {
  return {
    async connect(context, namespace, name, query) {
      const options = streamsOf(query)
      await admitConnect(registry, context, namespace, name, attachKind, 'attach', shown(options, query))
      const pod = await assignedPod(registry, namespace, name)
      const container = chosenContainer(pod, query.get('container') ?? '')
      checkStreams(options)
      const agent = await nodes.remoteAgent(pod.spec.nodeName ?? '')
      if (agent !== undefined) return commandOfAgent(agent, ['attach', namespace, name, container], options, [])
      const run = await nodes.attach(pod, { container })
      return { kind: 'command', options, run }
    },
  }
}

/** `pods/portforward`: connects the client to ports of a pod. */
export function portForwardSubresource(registry: ResourceRegistry, nodes: NodeGateway): Connectable {
  return {
    async connect(context, namespace, name, query) {
      const ports = portsOf(query)
      await admitConnect(registry, context, namespace, name, portForwardKind, 'portforward', {
        ...(ports.length === 0 ? {} : { ports }),
      })
      const pod = await assignedPod(registry, namespace, name)
      const agent = await nodes.remoteAgent(pod.spec.nodeName ?? '')
      if (agent !== undefined) {
        const wanted = ports.map((port): [string, string] => ['port', String(port)])
        return agentStreams(agent, ['portForward', namespace, name], wanted)
      }
      return { kind: 'portForward', pod: `${namespace}/${name}`, ports, forward: await nodes.portForward(pod) }
    },
  }
}

/** A command as kubelets are asked for it, who have names of their own for its streams. */
function commandOfAgent(
  agent: NodeAgent,
  path: readonly string[],
  { stdin, stdout, stderr, tty }: CommandOptions,
  command: readonly string[],
): AgentStreams {
  const flags = Object.entries({ input: stdin, output: stdout, error: stderr, tty }).filter(([, isSet]) => isSet)
  return agentStreams(agent, path, [
    ...command.map((word): [string, string] => ['command', word]),
    ...flags.map(([name]): [string, string] => [name, '1']),
  ])
}

const agentStreams = (agent: NodeAgent, path: readonly string[], query: [string, string][]): AgentStreams => ({
  kind: 'agent',
  agent,
  path: `/${path.join('/')}`,
  search: new URLSearchParams(query).toString(),
})

function streamsOf(query: URLSearchParams): CommandOptions {
  const has = (name: string): boolean => isTrue(query.get(name))
  return { stdin: has('stdin'), stdout: has('stdout'), stderr: has('stderr'), tty: has('tty') }
}

function checkStreams({ stdin, stdout, stderr }: CommandOptions): void {
  if (!stdin && !stdout && !stderr) throw badRequest('you must specify at least 1 of stdin, stdout, stderr')
}

/** The options as admission sees them: what is not set is left out. */
function shown(options: CommandOptions, query: URLSearchParams): Readonly<Record<string, unknown>> {
  const container = query.get('container') ?? ''
  const set = Object.entries(options).filter(([, isSet]) => isSet)
  return { ...Object.fromEntries(set), ...(container === '' ? {} : { container }) }
}

function portsOf(query: URLSearchParams): readonly number[] {
  const texts = query.getAll('ports').flatMap((text) => text.split(','))
  if (texts.length > queryPortsMax)
    throw badRequest(`${texts.length} ports are more than the ${queryPortsMax} there may be`)
  return texts.map((text) => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
    if (port > 0 && port <= 0xffff) return port
    throw badRequest(`unable to parse ${JSON.stringify(text)} as a port: ports are numbers from 1 to 65535`)
  })
}

/** Asks admission whether somebody may connect to a subresource of an object. Rejects with an ApiError where not. */
export async function admitConnect(
  registry: ResourceRegistry,
  context: RequestContext,
  namespace: string,
  name: string,
  kind: AdmittedKind,
  subresource: string,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const object = { apiVersion: 'v1', kind: kind.kind, metadata: {}, ...options } as KubernetesObject
  const request = { operation: 'CONNECT', subresource, kind, object, options: connectOptions } as const
  await registry.admitPosted(context, namespace, name, request)
}

/** The pod, which must be on a node. */
async function assignedPod(registry: ResourceRegistry, namespace: string, name: string): Promise<Pod> {
  const pod = (await registry.get(namespace, name)).object as Pod
  if ((pod.spec.nodeName ?? '') === '') throw badRequest(`pod ${name} does not have a host assigned`)
  return pod
}
