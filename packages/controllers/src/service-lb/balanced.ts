/** Which services get addresses of nodes, and how it is known which have some. */
import type { Service } from '@coracle/api'
import { getCondition, hasFinalizer, isBeingDeleted } from '@coracle/controller-runtime'

/** Holds a service until what balances its load is cleaned up (upstream's cloud-provider/service/helpers). */
export const cleanupFinalizer = 'service.kubernetes.io/load-balancer-cleanup'

/** The class of load balancers that are addresses of nodes, for services that name one. */
export const nodeAddressesClass = 'coracle.dev/node'

/**
 * The condition of a service whose addresses are given here, which says why it has none or is without some. It comes and goes in one write with the
 * finalizer: a service without it is somebody else's.
 */
export const addressesCondition = 'coracle.dev/NodeAddresses'

/** Whether a service asks for what is given here: a load balancer of no class, or of this one. */
export const wantsAddresses = ({ spec: { type, loadBalancerClass = nodeAddressesClass } }: Service): boolean =>
  type === 'LoadBalancer' && loadBalancerClass === nodeAddressesClass

/** Whether a service was given addresses of nodes, or told why it has none. */
export const hasAddressesOfNodes = ({ status }: Pick<Service, 'status'>): boolean =>
  getCondition(status?.conditions, addressesCondition) !== undefined

/** Whether a service is to have addresses of nodes. */
export const isBalanced = (service: Service): boolean => wantsAddresses(service) && !isBeingDeleted(service)

/**
 * Whether there is something to take back: addresses given here to a service that is to have none, or, where addresses are given at all, the finalizer of a
 * load balancer that nobody else will clean up.
 */
export function needsCleanup(service: Service, givesAddresses: boolean): boolean {
  if (givesAddresses && isBalanced(service)) return false
  if (hasAddressesOfNodes(service)) return true
  const isLeft = service.spec.type !== 'LoadBalancer' || wantsAddresses(service)
  return givesAddresses && isLeft && hasFinalizer(service, cleanupFinalizer)
}
