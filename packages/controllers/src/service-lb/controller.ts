import {
  apiServiceKey,
  deepEqual,
  type EndpointSlice,
  endpointSlices,
  hostPortsOf,
  type Node,
  nodes,
  type Pod,
  pods,
  type Service,
  type ServiceStatus,
  services,
} from '@coracle/api'
import { keyOf, keyText } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  type Lookup,
  type Plan,
  performPlan,
  type ReconcileContext,
} from '@coracle/controller-runtime'
import { isNamespaceGoing } from '../namespace/going.ts'
import { readyStatus } from '../node-lifecycle/ready.ts'
import { serviceKeysOf, slicesIndex, slicesOfService } from '../services/slices.ts'
import type { Surroundings } from './assign.ts'
import { hasAddressesOfNodes, isBalanced, needsCleanup } from './balanced.ts'
import { claimsOf, portText } from './claims.ts'

/** The index of services that have addresses of nodes, or are to have them. */
const balancedIndexName = 'addresses-of-nodes'
/** The indexes of services and of pods by the ports that they take of nodes. */
const portIndexName = 'ports-of-nodes'

const name = 'service-lb-controller'
const options = { component: 'service-controller' } as const

/**
 * Gives services of type LoadBalancer the addresses of nodes, where the service proxies listen then. With `addresses` undefined it gives none, and takes
 * back those that it has given before.
 */
export function createServiceLbController(addresses: 'nodes' | undefined): Controller {
  return addresses === undefined ? withdrawing() : giving()
}

function withdrawing(): Controller {
  return controller(name, options)
    .for(services, { predicates: [({ object }) => hasAddressesOfNodes(object)] })
    .reconcile(async ({ object }, context) => {
      if (object !== undefined && needsCleanup(object, false)) await cleanUp(object, context)
      return undefined
    })
}

function giving(): Controller {
  return controller(name, options)
    .for(services, {
      predicates: [({ object }) => isBalanced(object) || needsCleanup(object, true)],
      indexes: {
        [balancedIndexName]: (service: Service) => (isBalanced(service) ? [''] : []),
        [portIndexName]: (service: Service) => [...new Set(claimsOf(service).map(({ port }) => port))],
      },
    })
    .watches(services, balancedAtPortsOf, { predicates: [changesClaims] })
    .watches(nodes, allBalanced, { predicates: [changesBalancing] })
    .watches(pods, balancedAtPortsOfPod, { predicates: [changesHostPorts], indexes: { [portIndexName]: portsOfPod } })
    .watches(endpointSlices, balancedBeforeSlice, { indexes: slicesIndex })
    .reconcile(async ({ object: service }, context) => {
      if (service === undefined) return undefined
      if (needsCleanup(service, true)) return cleanUp(service, context)
      if (!isBalanced(service)) return undefined
      const { assign, planAddresses } = await loaded(context)
      const plan = planAddresses(service, assign(service, surroundingsOf(context)), context.clock.now())
      return performUnlessGoing(context, service, plan)
    })
}

async function cleanUp(service: Service, context: ReconcileContext<Service>) {
  const { planCleanup } = await loaded(context)
  return performUnlessGoing(context, service, planCleanup(service))
}

async function performUnlessGoing(context: ReconcileContext<Service>, service: Service, plan: Plan<ServiceStatus>) {
  try {
    return await performPlan(context, service, plan)
  } catch (error) {
    if (isNamespaceGoing(error)) return undefined
    throw error
  }
}

/** Few clusters have addresses of nodes for services. Where time is virtual it stands still meanwhile. */
async function loaded({ clock }: ReconcileContext<Service>) {
  const [assigning, planning] = await clock.hold(Promise.all([import('./assign.ts'), import('./plan.ts')]))
  return { ...assigning, ...planning }
}

function surroundingsOf(lookup: Lookup): Surroundings {
  return {
    nodes: lookup.informer(nodes).list(),
    servicesAt: (port) => lookup.informer(services).byIndex(portIndexName, port),
    podsAt: (port) => lookup.informer(pods).byIndex(portIndexName, port),
    slicesOf: (service) => slicesOfService(lookup, keyOf(service)),
    apiPorts: new Set(
      slicesOfService(lookup, apiKey).flatMap(({ ports = [] }) =>
        ports.map(({ port = 0, protocol = 'TCP' }) => portText(port, protocol)),
      ),
    ),
  }
}

const apiKey = keyText(apiServiceKey.namespace, apiServiceKey.name)

const allBalanced = (_: unknown, lookup: Lookup): readonly string[] =>
  lookup.informer(services).byIndex(balancedIndexName, '').map(keyOf)

const balancedAt = (ports: readonly string[], lookup: Lookup): readonly string[] =>
  ports.flatMap((port) => lookup.informer(services).byIndex(portIndexName, port).filter(isBalanced).map(keyOf))

/** Whoever would have a port that a service takes, or has left. */
function balancedAtPortsOf(service: Service, lookup: Lookup): readonly string[] {
  const own = keyOf(service)
  const ports = claimsOf(service).map(({ port }) => port)
  return balancedAt(ports, lookup).filter((key) => key !== own)
}

const balancedAtPortsOfPod = (pod: Pod, lookup: Lookup): readonly string[] => balancedAt(portsOfPod(pod), lookup)

/** The ports of its node that a pod has while it is there. */
function portsOfPod({ spec, status }: Pod): readonly string[] {
  if (spec.nodeName === undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed') return []
  return hostPortsOf(spec).map(({ port, protocol }) => portText(port, protocol))
}

function changesHostPorts(change: Change<Pod>): boolean {
  const ports = portsOfPod(change.object)
  if (change.type !== 'update') return ports.length > 0
  return !deepEqual(ports, portsOfPod(change.old))
}

/** Services whose nodes are those with endpoints; all, where API servers come and go. */
function balancedBeforeSlice(slice: EndpointSlice, lookup: Lookup): readonly string[] {
  return serviceKeysOf(slice).flatMap((key) => {
    if (key === apiKey) return allBalanced(undefined, lookup)
    const service = lookup.informer(services).get(key)
    return service !== undefined && isBalanced(service) && service.spec.externalTrafficPolicy === 'Local' ? [key] : []
  })
}

/** What others go by: the ports, and whether the service has the addresses that it is to have. */
function changesClaims(change: Change<Service>): boolean {
  if (change.type !== 'update') return claimsOf(change.object).length > 0
  const of = (service: Service) => [claimsOf(service), isBalanced(service), service.status?.loadBalancer]
  return !deepEqual(of(change.old), of(change.object))
}

/** Of a node's many updates those that make it take traffic, or no longer, or somewhere else. */
function changesBalancing(change: Change<Node>): boolean {
  if (change.type !== 'update') return true
  const of = ({ metadata, spec, status }: Node) => [
    metadata.labels,
    metadata.deletionTimestamp,
    spec?.taints,
    status?.addresses,
    status?.daemonEndpoints,
  ]
  const { old, object } = change
  return readyStatus(old) !== readyStatus(object) || !deepEqual(of(old), of(object))
}
