import { deepEqual, endpointSlices, type Node, nodes, pods, type Service, services } from '@coracle/api'
import { keyOf } from '@coracle/client'
import { type Change, type Controller, controller, type Lookup, performPlan } from '@coracle/controller-runtime'
import { isNamespaceGoing } from '../namespace/going.ts'
import { readyStatus } from '../node-lifecycle/ready.ts'
import { podLabelsIndex } from '../pods/by-labels.ts'
import { endpointsRestMs } from '../pods/rest.ts'
import { changesEndpoints, hasPods, podsBehind, serviceIndexes, servicesOf } from '../services/pods-behind.ts'
import { serviceKeysOf, slicesIndex, slicesOf } from '../services/slices.ts'
import { TriggerTimes } from '../services/trigger-times.ts'
import { managedBy, planEndpointSlices, type SaidOfHints } from './plan.ts'
import { wantsTopologyHints, zoneLabel, zoneShares } from './topology-hints.ts'

/** The index of services whose endpoints are allocated to zones. */
const topologyIndexName = 'topology'
const byTopology = (service: Service): readonly string[] => (wantsTopologyHints(service) ? [''] : [])

/** Keeps the slices of services that select pods: what is behind them, and whether it takes traffic. */
export function createEndpointSliceController(): Controller {
  const triggerTimes = new TriggerTimes()
  /** What has been said of each service's allocation. */
  const said = new Map<string, SaidOfHints>()
  /** The services that leave pods out, and the nodes that these say they are on. */
  const waiting = new Map<string, ReadonlySet<string>>()
  const servicesOfNode = ({ metadata: { name = '' } }: Node, lookup: Lookup): readonly string[] => [
    ...lookup.informer(services).byIndex(topologyIndexName, '').map(keyOf),
    ...[...waiting].filter(([, missing]) => missing.has(name)).map(([key]) => key),
  ]
  return controller('endpointslice-controller', { component: 'endpoint-slice-controller' })
    .for(services, { indexes: { ...serviceIndexes, [topologyIndexName]: byTopology } })
    .watches(endpointSlices, serviceKeysOf, { indexes: slicesIndex })
    .watches(pods, servicesOf, { predicates: [changesEndpoints], indexes: podLabelsIndex })
    .watches(nodes, servicesOfNode, { predicates: [changesShares] })
    .reconcile(async ({ key, object: service }, context) => {
      waiting.delete(key)
      if (service === undefined) {
        triggerTimes.forget(key)
        said.delete(key)
      }
      if (service === undefined || !hasPods(service)) return undefined
      const slices = slicesOf(context, key, managedBy)
      const zoneOf = (nodeName: string) => {
        const node = context.informer(nodes).get(nodeName)
        return node && (node.metadata.labels?.[zoneLabel] ?? '')
      }
      const behind = podsBehind(service, context)
      const triggerTime = triggerTimes.next(key, service, behind)
      const topology = wantsTopologyHints(service) ? { shares: zoneShares(context.informer(nodes).list()) } : undefined
      const saidOfHints = said.get(key) ?? new Map()
      const plan = planEndpointSlices({ service, pods: behind, slices, zoneOf, triggerTime, topology, saidOfHints })
      if (plan.missingNodes.size > 0) waiting.set(key, plan.missingNodes)
      try {
        const result = await performPlan(context, service, plan)
        if (plan.saidOfHints.size > 0) said.set(key, plan.saidOfHints)
        else said.delete(key)
        return { ...result, restMs: endpointsRestMs(behind.length), isSettled: true }
      } catch (error) {
        if (isNamespaceGoing(error)) return undefined
        throw error
      }
    })
}

/** Of a node's many updates those that change how much its zone can do. */
function changesShares(change: Change<Node>): boolean {
  if (change.type !== 'update') return true
  const of = ({ metadata, status }: Node) => [metadata.labels, status?.allocatable?.cpu]
  const { old, object } = change
  return readyStatus(old) !== readyStatus(object) || !deepEqual(of(old), of(object))
}
