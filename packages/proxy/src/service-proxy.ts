import { type EndpointSlice, endpointSlices, type Service, services } from '@coracle/api'
import {
  type Client,
  createEventRecorder,
  createInformer,
  type EventRecorder,
  type EventType,
  type Informer,
  keyOf,
  keyText,
} from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { newVisits, type Visits } from './balancer.ts'
import { FrontendListener } from './frontend-listener.ts'
import { type Frontend, frontendsOf, idOf, type Surroundings } from './frontends.ts'
import { hostNetwork } from './host-network.ts'
import type { ConnectThroughNode, Network } from './network.ts'
import { OwnZones } from './own-zones.ts'

const component = 'kube-proxy'

/** The index of slices by the key of their service. */
const byServiceName = 'service'
const serviceNameLabel = 'kubernetes.io/service-name'

export interface ServiceProxyOptions extends Omit<Surroundings, 'leadsThroughNodes' | 'ownZones'> {
  /** Acts as `system:kube-proxy`. */
  readonly client: Client
  readonly environment: Environment
  /** What it listens for of a service, where that is not as the service and its slices say. */
  readonly adapt?: (service: Service, frontends: readonly Frontend[]) => readonly Frontend[]
  /** The one node that it works for, where there is one: of others it reads nothing. */
  readonly nodeName?: string
  /** The way to pods of other machines. Without it services lead there only where the address of a pod is reached from here. */
  readonly throughNode?: ConnectThroughNode
  /** The host's own unless set. */
  readonly network?: Network
}

/** Leads what comes to the addresses of services to the pods behind them. */
export interface ServiceProxy {
  /** What it follows. */
  readonly services: Informer<Service>
  readonly slices: Informer<EndpointSlice>
  /** Resolves when it has seen all services, and listens for those that have something behind them or knows why it cannot. */
  start(): Promise<void>
  /** Gives all addresses back and ends all connections. */
  stop(): Promise<void>
}

/**
 * A proxy in this process, which needs no rights on this host but those to listen: the addresses must be the host's own. It has yet
 * to be started.
 */
export function createServiceProxy(options: ServiceProxyOptions): ServiceProxy {
  return new UserspaceProxy(options)
}

class UserspaceProxy implements ServiceProxy {
  readonly #options: ServiceProxyOptions
  readonly #surroundings: Surroundings
  readonly #zones: OwnZones
  readonly #network: Network
  readonly services: Informer<Service>
  readonly slices: Informer<EndpointSlice>
  readonly #recorder: EventRecorder
  /** By the key of the service, and what tells its frontends apart. */
  readonly #listeners = new Map<string, Map<string, FrontendListener>>()
  /** Where the clients of services were, by the key of the service and the name of its port: as upstream's, whichever address they have used. */
  readonly #visits = new Map<string, Map<string, Visits>>()
  /** Keys of services that are to be looked at. */
  readonly #changed = new Set<string>()
  #isRunning = false
  #isTurnDue = false

  constructor(options: ServiceProxyOptions) {
    const { client, environment } = options
    this.#options = options
    const { isOwnNode, nodeAddresses, throughNode } = options
    const { nodeName } = options
    this.#zones = new OwnZones({ client, environment, isOwnNode, nodeName, onChange: () => this.#allHaveChanged() })
    this.#surroundings = {
      isOwnNode,
      nodeAddresses,
      ownZones: this.#zones.get,
      leadsThroughNodes: throughNode !== undefined,
    }
    this.#network = options.network ?? hostNetwork(environment.clock, options.throughNode)
    this.services = createInformer(client, services, {}, environment)
    this.slices = createInformer(client, endpointSlices, { indexes: { [byServiceName]: serviceOf } }, environment)
    this.#recorder = createEventRecorder(client, environment, { component, api: 'events.k8s.io/v1' })
  }

  async start(): Promise<void> {
    const serviceChanged = (service: Service): void => this.#hasChanged(keyOf(service))
    this.services.addHandler({
      add: serviceChanged,
      update: (_, service) => serviceChanged(service),
      delete: serviceChanged,
    })
    const sliceChanged = (slice: EndpointSlice): void => {
      for (const key of serviceOf(slice)) this.#hasChanged(key)
    }
    this.slices.addHandler({
      add: sliceChanged,
      update(old, slice) {
        sliceChanged(old)
        sliceChanged(slice)
      },
      delete: sliceChanged,
    })
    this.services.start()
    this.slices.start()
    await Promise.all([this.services.waitForSync(), this.slices.waitForSync()])
    this.#isRunning = true
    this.#lookAtChanged()
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    await Promise.all([this.services.stop(), this.slices.stop(), this.#zones.stop()])
    for (const listeners of this.#listeners.values()) for (const listener of listeners.values()) listener.set(undefined)
    this.#listeners.clear()
    this.#network.close()
    await this.#recorder.flush()
    this.#recorder.stop()
  }

  #hasChanged(key: string): void {
    this.#changed.add(key)
    if (!this.#isRunning || this.#isTurnDue) return
    this.#isTurnDue = true
    this.#options.environment.clock.defer(() => {
      this.#isTurnDue = false
      if (this.#isRunning) this.#lookAtChanged()
    })
  }

  #allHaveChanged(): void {
    for (const service of this.services.list()) this.#hasChanged(keyOf(service))
  }

  #lookAtChanged(): void {
    for (const key of this.#changed) this.#lookAt(key)
    this.#changed.clear()
  }

  #lookAt(key: string): void {
    const service = this.services.get(key)
    const frontends = service === undefined ? [] : this.#frontendsOf(service)
    // Somebody else listens for one that is answered now, or no longer.
    const wanted = new Map(
      frontends.map((frontend) => [`${idOf(frontend)} ${frontend.answer !== undefined}`, frontend]),
    )
    const listeners = this.#listeners.get(key) ?? new Map<string, FrontendListener>()
    for (const [id, listener] of listeners) {
      if (wanted.has(id)) continue
      listener.set(undefined)
      listeners.delete(id)
    }
    for (const [id, frontend] of wanted) {
      const listener = listeners.get(id) ?? this.#newListener(key, frontend)
      listeners.set(id, listener)
      listener.set(frontend)
    }
    if (listeners.size > 0) this.#listeners.set(key, listeners)
    else {
      this.#listeners.delete(key)
      this.#visits.delete(key)
    }
  }

  #frontendsOf(service: Service): readonly Frontend[] {
    const slices = this.slices.byIndex(byServiceName, keyOf(service))
    const frontends = frontendsOf(service, slices, this.#surroundings)
    return this.#options.adapt?.(service, frontends) ?? frontends
  }

  #newListener(key: string, { portName }: Frontend): FrontendListener {
    return new FrontendListener({
      ...(portName === undefined ? {} : { visits: this.#visitsOf(key, portName) }),
      network: this.#network,
      environment: this.#options.environment,
      onFailure: (frontend, error) => this.#report(key, frontend, error),
      onRecovery: (frontend) => this.#tell(key, 'Normal', 'Listening', `Listening on ${idOf(frontend)}`),
    })
  }

  #visitsOf(key: string, portName: string): Visits {
    const ofService = this.#visits.get(key) ?? new Map<string, Visits>()
    this.#visits.set(key, ofService)
    const visits = ofService.get(portName) ?? newVisits()
    ofService.set(portName, visits)
    return visits
  }

  #report(key: string, frontend: Frontend, error: NodeJS.ErrnoException): void {
    if (frontend.isElsewhere && error.code === 'EADDRNOTAVAIL') return
    const message = `Cannot listen on ${idOf(frontend)}: ${explain(error)}`
    this.#options.environment.logger.info('cannot listen for a service', { service: key, error: message })
    this.#tell(key, 'Warning', 'FailedToListen', message)
  }

  #tell(key: string, type: EventType, reason: 'FailedToListen' | 'Listening', message: string): void {
    const service = this.services.get(key)
    if (service !== undefined) this.#recorder.event(service, type, reason, message, { action: 'Listen' })
  }
}

function serviceOf({ metadata: { namespace, labels } }: EndpointSlice): readonly string[] {
  const name = labels?.[serviceNameLabel]
  return name === undefined ? [] : [keyText(namespace, name)]
}

/** What the system's error means, and what helps. */
function explain({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EACCES':
      return 'ports below 1024 are for root, unless the host allows them (sysctl net.ipv4.ip_unprivileged_port_start=0)'
    case 'EADDRINUSE':
      return 'another program of this host listens there'
    case 'EADDRNOTAVAIL':
      return 'it is no address of this host'
    default:
      return message
  }
}
