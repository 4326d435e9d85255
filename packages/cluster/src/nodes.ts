import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionLink } from '@coracle/client'
import { assert, type Clock } from '@coracle/environment'
import {
  type AgentMetricsSource,
  createKubelet,
  type DeadContainerLimits,
  type HostImages,
  type Kubelet,
  type OpenServiceNames,
  type Runtime,
} from '@coracle/kubelet'
import type { SimulatedBehaviour } from '@coracle/kubelet/simulated'
import type { ServiceProxy } from '@coracle/proxy'
import { hostAndPort } from './agent/host-and-port.ts'
import type { Component, ContainerRuntimeOptions } from './cluster.ts'
import type { Drives, Started } from './component.ts'
import { ComponentGroup, type StartMember } from './component-group.ts'
import { hostAddress } from './host-address.ts'
import { HostNames } from './host-names.ts'
import { identities, nodeIdentity } from './identities.ts'
import { startLocalPathProvisioner } from './local-path-provisioner.ts'
import { localVolumes } from './local-volumes.ts'
import type { Names } from './names.ts'
import type { NodeConnections } from './node-connections.ts'
import {
  isolatedNodeOptions,
  measuredWithPods,
  openNodeRuntime,
  type RootDirectory,
  type RuntimeKind,
  removeAllSandboxes,
  rootDirectoryOf,
} from './node-runtime.ts'
import type { ServiceRoutes } from './service-routes.ts'
import { stopAll } from './stop-all.ts'
import { volumesOfNode } from './volume-drivers.ts'
import type { Worlds } from './worlds.ts'

/** Nodes of real processes in one cluster: each has addresses of its own, of which a host has so many. */
export const processNodesMax = 64

export interface NodesOptions {
  readonly worlds: Worlds
  /** Learns how to reach each node. */
  readonly connections: NodeConnections
  readonly count: number
  /** Whether the nodes that the store has already are simulated as well, under their names. */
  readonly stored: boolean
  /** What simulated containers do beside what their environment says. */
  readonly behaviour: SimulatedBehaviour | undefined
  /** What their names begin with; a number follows. */
  readonly namePrefix: string
  readonly runtime: RuntimeKind
  /** What images are on the process runtime. */
  readonly images: HostImages | undefined
  /** The container runtime of this host, where containers are its. */
  readonly containerRuntime: ContainerRuntimeOptions | undefined
  /** Which containers that have ended are kept, where they are processes. */
  readonly deadContainers: DeadContainerLimits | undefined
  /** Where static pods are, for nodes whose containers are real. */
  readonly manifestPath: string | undefined
  readonly agents: 'shared' | 'separate'
  /** Undefined: what real containers leave behind goes to a temporary directory, and goes with them. */
  readonly dataDir: string | undefined
  /** Where services are reached by their ports on the nodes, where those run processes. */
  readonly proxyAddress: string
  /** The address by which other machines reach the ports of nodes that run something. Undefined: they do not. */
  readonly externalAddress: string | undefined
  /** Where this process serves the API, once it does. */
  readonly apiUrl: () => string | undefined
  readonly drives: Drives
}

/** The nodes of a cluster. */
export interface Nodes {
  /** Starts all. They are at work when each has registered its node and seen its pods. */
  start(link: ConnectionLink): Started
  /** A node that has an agent of its own. Throws where there is none of that name. */
  node(name: string): Component
}

/** What makes volumes on the nodes runs beside them: below `dataDirectory`, where they are real. */
export function startWithVolumes(
  { worlds, count, stored, namePrefix }: NodesOptions,
  dataDirectory: string | undefined,
  nodes: Started,
  link: ConnectionLink,
): Started {
  if (count === 0 && !stored) return nodes
  const names = ownNames({ count, namePrefix })
  const volumes = localVolumes((name) => stored || names.has(name), dataDirectory)
  const provisioner = startLocalPathProvisioner(worlds, volumes, link)
  return {
    atWork: Promise.all([nodes.atWork, provisioner.atWork]).then(() => {}),
    stop: (options) => stopAll([nodes.stop, provisioner.stop], options),
  }
}

/** The names of the nodes that are made here. */
export const ownNames = ({ count, namePrefix }: Pick<NodesOptions, 'count' | 'namePrefix'>): ReadonlySet<string> =>
  new Set(Array.from({ length: count }, (_, index) => `${namePrefix}${index}`))

/** Nodes of this host, whose containers are real, to be started. */
export function processNodes(options: NodesOptions): Nodes {
  const { worlds, count, namePrefix, dataDir, drives, images, containerRuntime } = options
  const countMax = containerRuntime === undefined ? processNodesMax : 1
  assert(count <= countMax, `${count} nodes of real containers are more than ${countMax}`)
  const startMember = (index: number): readonly [string, StartMember<HostParts>] => {
    const name = `${namePrefix}${index}`
    const startNode = async ({ dataDirectory, names }: HostParts, link: ConnectionLink) => {
      const environment = worlds.environmentOf(name)
      const opened = await openNodeRuntime({ environment, dataDirectory, nodeName: name, images, containerRuntime })
      const { runtime, metrics } = measuredWithPods(opened, environment.clock)
      const root = rootDirectoryOf(dataDirectory, name, containerRuntime, dataDir === undefined)
      const address = runtime.isolates === true ? hostAddress() : undefined
      const openServiceNames = names.open
      const parts = {
        ...{ name, runtime, metrics, root, openServiceNames },
        ...(address === undefined ? {} : { address }),
      }
      return { runtime, kubelet: startKubelet(options, parts, link) }
    }
    const start: StartMember<HostParts> = (parts, link) => {
      const node = startNode(parts, link)
      return {
        atWork: node.then(({ kubelet }) => kubelet.atWork),
        async stop(stopOptions) {
          const opened = await node.catch(() => undefined)
          if (opened === undefined) return
          const { runtime, kubelet } = opened
          const isLast = dataDir === undefined && stopOptions.containers === 'terminate'
          await Promise.resolve(kubelet.stop(stopOptions))
            .then(() => (isLast && runtime.isolates === true ? removeAllSandboxes(runtime) : undefined))
            .finally(() => runtime.close())
        },
      }
    }
    return [name, start]
  }
  const group = new ComponentGroup(new Map(Array.from({ length: count }, (_, index) => startMember(index))), drives)
  return {
    start(link) {
      const temporary = dataDir === undefined ? mkdtempSync(join(tmpdir(), 'coracle-')) : undefined
      const dataDirectory = dataDir ?? temporary ?? ''
      const own = ownNames(options)
      const proxy = Promise.withResolvers<ServiceProxy>()
      const names = new HostNames({
        environment: worlds.environmentOf('kube-proxy'),
        isOwnNode: (name) => own.has(name),
        caches: () => proxy.promise,
      })
      const members = group.start({ dataDirectory, names }, link)
      const nodes = startWithVolumes(options, dataDirectory, members, link)
      const { atWork, stop } = startWithProxy(options, dataDirectory, nodes, link, proxy.resolve)
      return {
        atWork,
        async stop(stopOptions) {
          await stop(stopOptions)
          names.stop()
          if (temporary !== undefined && stopOptions.containers === 'terminate')
            await rm(temporary, { recursive: true, force: true })
        },
      }
    },
    node: (name) => group.component(name),
  }
}

/** What the nodes of this host share. */
interface HostParts {
  readonly dataDirectory: string
  readonly names: HostNames
}

/** What leads to services runs beside the nodes of this host: one for all of them, which is told of once it is there. */
function startWithProxy(
  { worlds, connections, count, namePrefix, proxyAddress, containerRuntime }: NodesOptions,
  dataDirectory: string,
  nodes: Started,
  link: ConnectionLink,
  tell: (proxy: ServiceProxy) => void,
): Started {
  if (count === 0) return nodes
  const names = ownNames({ count, namePrefix })
  let proxy: ServiceProxy | undefined
  let routes: ServiceRoutes | undefined
  let domainNames: Names | undefined
  let isStopped = false
  const start = async (): Promise<void> => {
    const [{ createServiceProxy }, { ServiceRoutes }, { adaptFrontends }] = await Promise.all([
      import('@coracle/proxy'),
      import('./service-routes.ts'),
      import('./adapt-frontends.ts'),
    ])
    const { Names } = containerRuntime === undefined ? {} : await import('./names.ts')
    if (isStopped) return
    const client = worlds.clientOf('kube-proxy', identities.proxy, link)
    const environment = worlds.environmentOf('kube-proxy')
    routes = new ServiceRoutes({ client, environment, dataDirectory, isolates: containerRuntime !== undefined })
    await routes.start()
    if (isStopped) return
    domainNames = Names && containerRuntime && new Names(client, environment, containerRuntime)
    proxy = createServiceProxy({
      client,
      environment,
      isOwnNode: (name) => names.has(name),
      nodeAddresses: [proxyAddress],
      adapt: adaptFrontends({
        leadsToApi: containerRuntime !== undefined,
        ...(domainNames === undefined ? {} : { answerNames: domainNames.answer }),
      }),
      throughNode: connections.connectThroughNode,
    })
    tell(proxy)
    await proxy.start()
  }
  const atWork = start()
  const stop = async (): Promise<void> => {
    isStopped = true
    await proxy?.stop()
    await domainNames?.stop()
    await routes?.stop()
  }
  return {
    atWork: Promise.all([nodes.atWork, atWork]).then(() => {}),
    stop: (options) => stopAll([nodes.stop, stop], options),
  }
}

/** What is a node's own. */
export interface NodeParts {
  readonly name: string
  readonly runtime: Runtime
  readonly address?: string
  /** Absent: no volumes are made. */
  readonly root?: RootDirectory
  readonly metrics?: AgentMetricsSource
  readonly openServiceNames?: OpenServiceNames
}

const serverOf = (url: string | undefined) => (url === undefined ? undefined : hostAndPort(url))

/** Starts the agent of one node. */
export function startKubelet(
  { worlds, connections, deadContainers, containerRuntime, manifestPath, apiUrl, externalAddress }: NodesOptions,
  { name, runtime, address, root, metrics, openServiceNames }: NodeParts,
  link: ConnectionLink,
): Started {
  const environment = worlds.environmentOf(name)
  const { clock } = environment
  const client = worlds.clientOf(name, nodeIdentity(name), link)
  const manifests = runtime.runsProcesses ? manifestPath : worlds.manifestPathOf(name)
  const kubelet: Kubelet = createKubelet({
    client,
    environment,
    nodeName: name,
    runtime,
    ...(address === undefined ? {} : { nodeAddress: address }),
    ...(runtime.runsProcesses && externalAddress !== undefined ? { externalAddress } : {}),
    ...(root === undefined
      ? {}
      : volumesOfNode({ client, environment, nodeName: name, isolates: runtime.isolates === true, ...root })),
    ...(deadContainers === undefined ? {} : { deadContainers }),
    ...(manifests === undefined ? {} : { manifestPath: manifests, watchesManifests: runtime.runsProcesses }),
    ...(metrics === undefined ? {} : { metrics }),
    ...(openServiceNames === undefined ? {} : { openServiceNames }),
    ...(runtime.isolates === true ? {} : { apiServer: () => serverOf(apiUrl()) }),
    ...isolatedNodeOptions(containerRuntime, root),
  })
  const { usage, exec, attach, portForward } = kubelet
  connections.add(name, {
    usage,
    logs: async (...request) => kubelet.logs(...request),
    exec,
    attach,
    portForward,
    served: () => ({ ...kubelet, runtime }),
    environment,
    ...(runtime.runsProcesses
      ? { connectToPod: (target) => connectToPodOf({ ...kubelet, runtime }, target, clock) }
      : {}),
  })
  return {
    atWork: kubelet.start(),
    async stop(stopOptions) {
      connections.remove(name)
      await kubelet.stop(stopOptions)
    },
  }
}

/** A connection to a pod, for machines elsewhere. What it takes is loaded with the first. */
async function connectToPodOf(
  node: Pick<Kubelet, 'nodeAddress' | 'pods'> & { readonly runtime: Runtime },
  target: string,
  clock: Clock,
) {
  const { connectToPod } = await import('@coracle/kubelet/server')
  return connectToPod(target, node, clock)
}
