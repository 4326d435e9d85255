/** The service proxy: carries connections to a service's address to its endpoints. */

export {
  type Backend,
  type Frontend,
  frontendsOf,
  type ListenedTo,
  type Listening,
  type Protocol,
  type Surroundings,
} from './frontends.ts'
export type { ConnectThroughNode, Network, PodPort } from './network.ts'
export { createServiceProxy, type ServiceProxy, type ServiceProxyOptions } from './service-proxy.ts'
