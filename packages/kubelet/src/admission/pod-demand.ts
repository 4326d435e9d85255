import {
  type Demanding,
  type HostPort,
  hostPortsOf,
  oncePerTemplate,
  podRequests,
  type ResourceQuantities,
  wholeAmount,
} from '@coracle/api'

/** Amounts by resource: millicores of `cpu`, bytes or whole units of everything else. */
export type Amounts = ReadonlyMap<string, number>

/** What a pod takes of its node. */
export interface PodDemand {
  readonly amounts: Amounts
  readonly hostPorts: readonly HostPort[]
}

/** Reads off a pod's spec what it takes of its node. */
export const podDemand: (spec: Demanding) => PodDemand = oncePerTemplate((spec) => ({
  amounts: wholeAmounts(podRequests(spec)),
  hostPorts: hostPortsOf(spec),
}))

/** The amounts in the units in which a node counts them. */
export function wholeAmounts(quantities: ResourceQuantities): Amounts {
  return new Map([...quantities].map(([name, amount]) => [name, wholeAmount(name, amount)]))
}
