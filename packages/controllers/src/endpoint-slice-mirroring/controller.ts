import { type EndpointSlice, type Endpoints, endpointSlices, endpoints, type Service, services } from '@coracle/api'
import { keyOf } from '@coracle/client'
import { type Change, type Controller, controller, type Lookup, performPlan } from '@coracle/controller-runtime'
import { isNamespaceGoing } from '../namespace/going.ts'
import { managedByLabel, serviceKeysOf, sliceDeletion, slicesIndex, slicesOf } from '../services/slices.ts'
import { isMirrored, managedBy } from './mirrored.ts'

/**
 * Makes slices of the Endpoints of services without a selector, which others write, so that whoever reads slices alone finds
 * them too. The Endpoints of all other services, which are most, are not looked at; a slice that was mirrored from them once is, and
 * so leads to its deletion.
 */
export function createEndpointSliceMirroringController(): Controller {
  return controller('endpointslicemirroring-controller', { component: 'endpoint-slice-mirroring-controller' })
    .for(endpoints, { predicates: [() => false] })
    .watches(endpoints, ofServiceWithoutSelector, { predicates: [isThere] })
    .watches(endpointSlices, serviceKeysOf, { indexes: slicesIndex, predicates: [isOurs] })
    .watches(services, (service) => [keyOf(service)], { predicates: [changesMirroring] })
    .reconcile(async ({ key, object }, context) => {
      // Slices of Endpoints that are gone are garbage.
      if (object === undefined) return undefined
      const slices = slicesOf(context, key, managedBy)
      const isWanted = isMirrored(object) && lacksSelector(context.informer(services).get(key))
      const plan = isWanted
        ? (await context.clock.hold(import('./plan.ts'))).planMirroring(object, slices)
        : { actions: slices.map((slice) => sliceDeletion(slice, 'the Endpoints are not mirrored')) }
      try {
        return await performPlan(context, object, plan)
      } catch (error) {
        if (isNamespaceGoing(error)) return undefined
        throw error
      }
    })
}

const isOurs = (change: Change<EndpointSlice>): boolean =>
  [change.object, ...(change.type === 'update' ? [change.old] : [])].some(
    ({ metadata }) => metadata.labels?.[managedByLabel] === managedBy,
  )

/** What is behind a service with a selector the slice controller says. */
const lacksSelector = (service: Service | undefined): boolean =>
  service !== undefined && Object.keys(service.spec.selector ?? {}).length === 0

const ofServiceWithoutSelector = (object: Endpoints, lookup: Lookup): readonly string[] =>
  lacksSelector(lookup.informer(services).get(keyOf(object))) ? [keyOf(object)] : []

const isThere = ({ type }: Change<Endpoints>): boolean => type !== 'delete'

function changesMirroring(change: Change<Service>): boolean {
  const isMirroredNow = lacksSelector(change.object)
  return change.type === 'update' ? lacksSelector(change.old) !== isMirroredNow : isMirroredNow
}
