import { endpointSlices, nodes, pods, services } from '@coracle/api'
import { byController, controllerIndexName } from '@coracle/client'
import { type Controller, controller, isBeingDeleted, isControlledBy, performPlan } from '@coracle/controller-runtime'
import { isNamespaceGoing } from '../namespace/going.ts'
import {
  changesEndpoints,
  hasPods,
  podIndexes,
  podsBehind,
  serviceIndexes,
  servicesOf,
} from '../services/pods-behind.ts'
import { managedByLabel } from '../services/slices.ts'
import { TriggerTimes } from '../services/trigger-times.ts'
import { managedBy, planEndpointSlices } from './plan.ts'

const zoneLabel = 'topology.kubernetes.io/zone'

/** Keeps the slices of services that select pods: what is behind them, and whether it takes traffic. */
export function createEndpointSliceController(): Controller {
  const triggerTimes = new TriggerTimes()
  return controller('endpointslice-controller', { component: 'endpoint-slice-controller' })
    .for(services, { indexes: serviceIndexes })
    .owns(endpointSlices, { indexes: { [controllerIndexName]: byController } })
    .watches(pods, servicesOf, { predicates: [changesEndpoints], indexes: podIndexes })
    .reads(nodes)
    .reconcile(async ({ key, object: service }, context) => {
      if (service === undefined) triggerTimes.forget(key)
      if (service === undefined || isBeingDeleted(service) || !hasPods(service)) return undefined
      const slices = context
        .informer(endpointSlices)
        .byIndex(controllerIndexName, service.metadata.uid ?? '')
        .filter((slice) => isControlledBy(slice, service) && slice.metadata.labels?.[managedByLabel] === managedBy)
      const zoneOf = (nodeName: string) => context.informer(nodes).get(nodeName)?.metadata.labels?.[zoneLabel]
      const behind = podsBehind(service, context)
      const triggerTime = triggerTimes.next(key, service, behind)
      const plan = planEndpointSlices({ service, pods: behind, slices, zoneOf, triggerTime })
      try {
        return await performPlan(context, service, plan)
      } catch (error) {
        if (isNamespaceGoing(error)) return undefined
        throw error
      }
    })
}
