import { deepEqual, type Service, type ServiceStatus, services } from '@coracle/api'
import {
  type Action,
  type EventAction,
  getCondition,
  hasFinalizer,
  type Plan,
  removeCondition,
  setCondition,
} from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import type { Assignment } from './assign.ts'
import { addressesCondition, cleanupFinalizer, hasAddressesOfNodes, wantsAddresses } from './balanced.ts'
import { ingressOf } from './claims.ts'

/** Has a service have the addresses that it was given, in one write, and tells of it in upstream's words. Pure. */
export function planAddresses(service: Service, { addresses, problem }: Assignment, now: Time): Plan<ServiceStatus> {
  const before = ingressOf(service)
  const { conditions } = service.status ?? {}
  const status: ServiceStatus = {
    ...service.status,
    loadBalancer: addresses.length === 0 ? {} : { ingress: addresses.map((ip) => ({ ip, ipMode: 'VIP' })) },
    conditions: setCondition(
      conditions,
      {
        type: addressesCondition,
        status: addresses.length > 0 ? 'True' : 'False',
        reason: problem?.reason ?? 'AllNodes',
        message: problem?.message ?? '',
      },
      now,
    ),
  }
  const { finalizers = [] } = service.metadata
  const held = hasFinalizer(service, cleanupFinalizer) ? finalizers : [...finalizers, cleanupFinalizer]
  if (held === finalizers && deepEqual(status, service.status)) return { actions: [] }
  const isNew = !hasAddressesOfNodes(service)
  const said = getCondition(conditions, addressesCondition)
  const isSaid = said?.reason === problem?.reason && said?.message === problem?.message
  const because =
    problem === undefined
      ? `it is to have the ${addresses.length === 1 ? 'address of a node' : `addresses of ${addresses.length} nodes`}`
      : problem.message
  return {
    actions: [
      ...(isNew ? [normal('EnsuringLoadBalancer', 'Ensuring load balancer')] : []),
      written(service, held, status, because),
      ...(addresses.length > 0 && !deepEqual(addresses, before)
        ? [
            isNew || before.length === 0
              ? normal('EnsuredLoadBalancer', 'Ensured load balancer')
              : normal('UpdatedLoadBalancer', 'Updated load balancer with new hosts'),
          ]
        : []),
      ...(problem === undefined || isSaid ? [] : warning(problem)),
    ],
  }
}

/** What people have to know of. That pods are not ready yet is no news. */
function warning({ reason, message }: NonNullable<Assignment['problem']>): readonly EventAction[] {
  const event = { type: 'event', eventType: 'Warning', because: message } as const
  switch (reason) {
    case 'NoNodes':
      return [{ ...event, reason: 'UnAvailableLoadBalancer', message }]
    case 'NoLocalEndpoints':
      return []
    case 'NotAnAddressOfNodes':
    case 'PortTaken':
      return [{ ...event, reason: 'SyncLoadBalancerFailed', message: `Error syncing load balancer: ${message}` }]
  }
}

/** Takes back what a service was given here, and lets it go. Addresses that it may have of another load balancer stay. Pure. */
export function planCleanup(service: Service): Plan<ServiceStatus> {
  const { finalizers = [] } = service.metadata
  const { loadBalancer = {}, conditions: _, ...others } = service.status ?? {}
  const conditions = removeCondition(service.status?.conditions, addressesCondition)
  const isOthers = service.spec.type === 'LoadBalancer' && !wantsAddresses(service)
  const status = {
    ...others,
    loadBalancer: isOthers ? loadBalancer : {},
    ...(conditions.length === 0 ? {} : { conditions }),
  }
  const left = finalizers.filter((each) => each !== cleanupFinalizer)
  return {
    actions: [
      normal('DeletingLoadBalancer', 'Deleting load balancer'),
      written(service, left, status, 'it is to have no addresses of nodes'),
      normal('DeletedLoadBalancer', 'Deleted load balancer'),
    ],
  }
}

/** One write has the finalizer be there exactly as long as what it is for. */
function written(service: Service, finalizers: readonly string[], status: ServiceStatus, because: string): Action {
  const { finalizers: _, ...metadata } = service.metadata
  const object = {
    ...service,
    metadata: { ...metadata, ...(finalizers.length === 0 ? {} : { finalizers }) },
    status,
  } as Service
  return { type: 'update', resource: services, object, subresource: 'status', because }
}

const normal = (reason: string, message: string): EventAction => ({
  type: 'event',
  eventType: 'Normal',
  reason,
  message,
  because: message,
})
