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
import { assert, consoleLogger, type Environment, realClock, realEnvironment, VirtualClock } from '@coracle/environment'
import { createScheduler } from '@coracle/scheduler'
import { createMemoryStore, type EtcdStoreOptions, openEtcdStore, openLmdbStore, type Store } from '@coracle/store'
import type { Cluster, ClusterOptions, ComponentName } from './cluster.ts'
import { RestartableComponent, type StartComponent } from './component.ts'
import { type DataDirectory, openDataDirectory } from './data-directory.ts'
import { controllerIdentity, identities } from './identities.ts'
import { runWhileLeading } from './leadership.ts'
import { listen } from './listener.ts'
import { NodeConnections } from './node-connections.ts'
import { startNodes } from './nodes.ts'
import { createWorlds, type Worlds } from './worlds.ts'

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
  const stop = onlyOnce((stopOptions: StopOptions) => driveStop(environment, stopAll(stops, stopOptions)))
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
  const worlds: Worlds = createWorlds(environment, () => core, options.seams)
  const core: ApiCore = createApiCore({
    environment: worlds.environmentOf('apiserver'),
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
  const { leaderElection: times } = options
  /** With one server there is nobody to agree with: nothing is elected, nothing waits. */
  const once = (name: string, user: User, start: () => Promise<() => Promise<void>>): StartComponent => {
    if (!store.shared) return start
    return async () =>
      runWhileLeading({
        environment: worlds.environmentOf(name),
        client: worlds.clientOf(name, user),
        name,
        times,
        start,
      })
  }
  const component = (start: StartComponent) =>
    new RestartableComponent(start, {
      start: (work) => drive(environment, work),
      stop: (work) => driveStop(environment, work),
    })
  const components: Readonly<Record<ComponentName, RestartableComponent>> = {
    'kube-controller-manager': component(
      once('kube-controller-manager', identities.controllerManager, () =>
        startControllers(worlds, core, listener?.caPem),
      ),
    ),
    'kube-scheduler': component(once('kube-scheduler', identities.scheduler, () => startScheduler(worlds))),
    nodes: component(async () => {
      const nodes = await startNodes({ worlds, connections, count, namePrefix, runtime, dataDir })
      return (stopOptions) => nodes.stop(stopOptions)
    }),
  }
  for (const each of Object.values(components)) stops.push((stopOptions) => each.close(stopOptions))
  await Promise.all(Object.values(components).map((each) => each.startFirst()))

  return {
    client: core.client(identities.admin),
    environment,
    url: listener?.url,
    kubeconfig: listener?.kubeconfig,
    kubeconfigPath: listener?.kubeconfigPath,
    token,
    components,
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
  worlds: Worlds,
  core: ApiCore,
  rootCertificate: string | undefined,
): Promise<() => Promise<void>> {
  const stops: Stop[] = []
  const stop = () => stopAll(stops, { containers: 'keep' })
  const identityOf = new Map(builtinControllers.map(({ name, identity }) => [name, controllerIdentity(identity)]))
  const clientOf = (name: string) => worlds.clientOf(name, identityOf.get(name) ?? identities.controllerManager)
  const manager = createManager({
    client: worlds.clientOf('kube-controller-manager', identities.controllerManager),
    clientFor: ({ name }) => clientOf(name),
    environment: worlds.environmentOf('kube-controller-manager'),
    environmentFor: ({ name }) => worlds.environmentOf(name),
  })
  const alone: { start(): Promise<void> }[] = []
  for (const builtin of builtinControllers) {
    const host: ControllerHost = {
      client: clientOf(builtin.name),
      environment: worlds.environmentOf(builtin.name),
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
async function startScheduler(worlds: Worlds): Promise<() => Promise<void>> {
  const name = 'kube-scheduler'
  const client = worlds.clientOf(name, identities.scheduler)
  const scheduler = createScheduler({ client, environment: worlds.environmentOf(name) })
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

/** How long what a stop has to do outside the clock, as on a disk, may take before it is taken to wait for the clock, in real time. */
const stopGraceMs = 200
/** How far time goes at once while something that waits for the clock is stopped. */
const stopStepMs = 100

/**
 * As `drive`, and lets time pass where nothing else helps: what is stopped may have to wait for a while, as for events that the
 * server does not take.
 */
async function driveStop<T>({ clock }: Environment, work: Promise<T>): Promise<T> {
  if (!(clock instanceof VirtualClock)) return work
  let isDone = false
  const watched = work.finally(() => {
    isDone = true
  })
  watched.catch(() => {})
  const graceEndMs = realClock.monotonicMs() + stopGraceMs
  while (!isDone && realClock.monotonicMs() < graceEndMs) await clock.settle()
  while (!isDone) await clock.advance(stopStepMs)
  return watched
}

function onlyOnce<A, R>(action: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  let result: Promise<R> | undefined
  return (argument) => {
    result ??= action(argument)
    return result
  }
}
