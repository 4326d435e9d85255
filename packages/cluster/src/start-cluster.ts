import { hostname } from 'node:os'
import { builtinKinds } from '@coracle/api'
import {
  type ApiCore,
  createApiCore,
  createAuthorizer,
  createToken,
  loadOrCreateToken,
  type User,
} from '@coracle/apiserver'
import { createManager } from '@coracle/controller-runtime'
import { builtinControllers, type ControllerHost } from '@coracle/controllers'
import { assert, consoleLogger, type Environment, realEnvironment, VirtualClock } from '@coracle/environment'
import { createScheduler } from '@coracle/scheduler'
import { createMemoryStore, type EtcdStoreOptions, openEtcdStore, openLmdbStore, type Store } from '@coracle/store'
import type { Cluster, ClusterOptions } from './cluster.ts'
import { type DataDirectory, openDataDirectory } from './data-directory.ts'
import { controllerIdentity, identities } from './identities.ts'
import { runWhileLeading } from './leadership.ts'
import { listen } from './listener.ts'
import { NodeConnections } from './node-connections.ts'
import { type Nodes, startNodes } from './nodes.ts'

/** Something that was started and is stopped in the reverse order. */
type Stop = (options: StopOptions) => void | Promise<void>

interface StopOptions {
  readonly containers: 'terminate' | 'keep'
}

/**
 * Starts a cluster: store, API server, controllers, scheduler and nodes, all in this process. Resolves when every part
 * is at work; rejects, with everything stopped again, when one cannot start.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const environment = options.environment ?? realEnvironment(consoleLogger({ level: 'error' }))
  const runtime = options.runtime ?? 'simulated'
  const isVirtual = environment.clock instanceof VirtualClock
  assert(
    !isVirtual || runtime === 'simulated',
    'real processes do not run on a virtual clock: use the simulated runtime',
  )
  const stops: Stop[] = []
  const stop = once((stopOptions: StopOptions) => drive(environment, stopAll(stops, stopOptions)))
  try {
    return await drive(environment, start({ ...options, environment, runtime }, stops, stop))
  } catch (error) {
    await stop({ containers: 'terminate' })
    throw error
  }
}

async function start(
  options: ClusterOptions & { readonly environment: Environment; readonly runtime: 'process' | 'simulated' },
  stops: Stop[],
  stop: (options: StopOptions) => Promise<void>,
): Promise<Cluster> {
  const { environment, dataDir, runtime } = options
  const directory =
    dataDir === undefined
      ? undefined
      : openDataDirectory(environment, dataDir, (error) => {
          environment.logger.error(error.message)
          options.onFailure?.(error)
        })
  if (directory !== undefined) stops.push(() => directory.close())
  const { store, close: closeStore } = await openStore(options, directory)
  stops.push(closeStore)
  const connections = new NodeConnections()
  const core = createApiCore({
    environment,
    store,
    kinds: builtinKinds,
    authorizer: createAuthorizer(),
    nodes: connections,
    ...(options.onFailure === undefined ? {} : { onFailure: options.onFailure }),
  })
  stops.push(() => core.close())
  const [token] = await Promise.all([dataDir === undefined ? createToken() : loadOrCreateToken(dataDir), core.ready])

  const address = listenAddress(options)
  const listener = address && (await listen({ environment, core, token, dataDir, ...address }))
  if (listener) stops.push(() => listener.close())

  const { nodes: count = 1, nodePrefix: namePrefix = store.shared ? `${hostname()}-` : 'node-' } = options
  const controllers = () => startControllers(environment, core, listener?.caPem)
  const scheduler = () => startScheduler(environment, core)
  /** With one server there is nobody to agree with: nothing is elected, nothing waits. */
  const startOnce = async (name: string, user: User, component: () => Promise<() => Promise<void>>) => {
    if (store.shared) {
      const { leaderElection: times } = options
      stops.push(runWhileLeading({ environment, client: core.client(user), name, times, start: component }))
      return
    }
    const started = component()
    // One that did not start has stopped what it had.
    const stopIt = started.catch(() => async () => {})
    stops.push(async () => (await stopIt)())
    await started
  }
  await Promise.all([
    startOnce('kube-controller-manager', identities.controllerManager, controllers),
    startOnce('kube-scheduler', identities.scheduler, scheduler),
    startNodes({ environment, core, connections, count, namePrefix, runtime, dataDir }).then((nodes: Nodes) => {
      stops.push((stopOptions) => nodes.stop(stopOptions))
    }),
  ])

  return {
    client: core.client(identities.admin),
    environment,
    url: listener?.url,
    kubeconfig: listener?.kubeconfig,
    kubeconfigPath: listener?.kubeconfigPath,
    token,
    stop: ({ containers = 'terminate' } = {}) => stop({ containers }),
    [Symbol.asyncDispose]: () => stop({ containers: 'terminate' }),
  }
}

interface OpenedStore {
  readonly store: Store
  readonly close: () => Promise<void>
}

async function openStore(
  options: ClusterOptions & { readonly environment: Environment },
  directory: DataDirectory | undefined,
): Promise<OpenedStore> {
  const { store: wanted } = options
  // The caller's, who may go on with it.
  if (typeof wanted === 'object' && 'commit' in wanted) return { store: wanted, close: async () => {} }
  const store = await openOwnStore(wanted, options.environment, directory)
  return { store, close: () => store.close() }
}

async function openOwnStore(
  wanted: 'memory' | 'disk' | { readonly etcd: Omit<EtcdStoreOptions, 'environment'> } | undefined,
  environment: Environment,
  directory: DataDirectory | undefined,
): Promise<Store> {
  if (typeof wanted === 'object') return openEtcdStore({ ...wanted.etcd, environment })
  if (wanted === 'memory' || directory === undefined) {
    assert(wanted !== 'disk', 'a store on disk needs a dataDir')
    const { clock } = environment
    return createMemoryStore(clock instanceof VirtualClock ? {} : { defer: (call) => clock.defer(call) })
  }
  const store = await openLmdbStore({
    directory: directory.storeDirectory(),
    identityFile: directory.storeMarker,
    environment,
  })
  directory.storeOpened()
  return store
}

function listenAddress({ listen: wanted, environment }: ClusterOptions): { host: string; port: number } | undefined {
  if (wanted === false) return undefined
  if (wanted === undefined && environment?.clock instanceof VirtualClock) return undefined
  return { host: wanted?.host ?? '127.0.0.1', port: wanted?.port ?? 0 }
}

/** Starts all controllers; resolves to what stops them. */
async function startControllers(
  environment: Environment,
  core: ApiCore,
  rootCertificate: string | undefined,
): Promise<() => Promise<void>> {
  const stops: Stop[] = []
  const stop = () => stopAll(stops, { containers: 'keep' })
  const identityOf = new Map(builtinControllers.map(({ name, identity }) => [name, controllerIdentity(identity)]))
  const clientOf = (name: string) => core.client(identityOf.get(name) ?? identities.controllerManager)
  const manager = createManager({
    client: core.client(identities.controllerManager),
    clientFor: ({ name }) => clientOf(name),
    environment,
  })
  const alone: { start(): Promise<void> }[] = []
  for (const builtin of builtinControllers) {
    const host: ControllerHost = {
      client: clientOf(builtin.name),
      environment,
      informer: (resource, informerOptions) => manager.informer(resource, informerOptions),
      resources: () => core.registries.resources(),
      onResourcesChange: (listener) => core.registries.onChange(listener),
      rootCertificate,
    }
    if (builtin.runs === 'in-manager') manager.add(builtin.create(host))
    else {
      const controller = builtin.create(host)
      stops.push(() => controller.stop())
      alone.push(controller)
    }
  }
  stops.push(() => manager.stop())
  try {
    await Promise.all([manager.start(), ...alone.map((controller) => controller.start())])
    return stop
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts the scheduler; resolves to what stops it. */
async function startScheduler(environment: Environment, core: ApiCore): Promise<() => Promise<void>> {
  const scheduler = createScheduler({ client: core.client(identities.scheduler), environment })
  try {
    await scheduler.start()
    return () => scheduler.stop()
  } catch (error) {
    await scheduler.stop()
    throw error
  }
}

/** The last started is stopped first. One that fails to stop does not keep the others from it. */
async function stopAll(stops: Stop[], options: StopOptions): Promise<void> {
  const errors: unknown[] = []
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
    try {
      await stop(options)
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, 'several parts of the cluster did not stop cleanly')
}

/** What is deferred on a virtual clock only runs when someone settles it: while a cluster starts or stops, that is us. */
async function drive<T>({ clock }: Environment, work: Promise<T>): Promise<T> {
  if (!(clock instanceof VirtualClock)) return work
  let isDone = false
  const watched = work.finally(() => {
    isDone = true
  })
  watched.catch(() => {})
  while (!isDone) await clock.settle()
  return watched
}

function once<A, R>(action: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  let result: Promise<R> | undefined
  return (argument) => {
    result ??= action(argument)
    return result
  }
}
