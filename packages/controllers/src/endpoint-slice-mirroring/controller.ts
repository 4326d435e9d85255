import { type EndpointSlice, endpointSlices, endpoints, type Service, services } from '@coracle/api'
import { keyOf } from '@coracle/client'
import { type Controller, controller, isBeingDeleted, performPlan } from '@coracle/controller-runtime'
import { isNamespaceGoing } from '../namespace/going.ts'
import { managedByLabel, sliceDeletion } from '../services/slices.ts'
import { isMirrored, managedBy, planMirroring } from './plan.ts'

/**
 * Makes slices of the Endpoints of services without a selector, which others write, so that whoever reads slices alone finds
 * them too.
 */
export function createEndpointSliceMirroringController(): Controller {
  return controller('endpointslicemirroring-controller', { component: 'endpoint-slice-mirroring-controller' })
    .for(endpoints)
    .owns(endpointSlices)
    .watches(services, (service) => [keyOf(service)])
    .reconcile(async ({ key, object }, context) => {
      // Slices of Endpoints that are gone are garbage.
      if (object === undefined || isBeingDeleted(object)) return undefined
      const slices = context.owned(endpointSlices).filter(isOurs)
      const service = context.informer(services).get(key)
      const plan =
        isMirrored(object) && service !== undefined && !hasSelector(service)
          ? planMirroring(object, slices)
          : { actions: slices.map((slice) => sliceDeletion(slice, 'the Endpoints are not mirrored')) }
      try {
        return await performPlan(context, object, plan)
      } catch (error) {
        if (isNamespaceGoing(error)) return undefined
        throw error
      }
    })
}

const isOurs = ({ metadata }: EndpointSlice): boolean => metadata.labels?.[managedByLabel] === managedBy

/** What is behind such a service the slice controller says. */
const hasSelector = ({ spec }: Service): boolean => Object.keys(spec.selector ?? {}).length > 0
