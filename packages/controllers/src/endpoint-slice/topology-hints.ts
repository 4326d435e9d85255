import { type Endpoint, type Node, quantityMilli, type Service } from '@coracle/api'
import { readyStatus } from '../node-lifecycle/ready.ts'

export const zoneLabel = 'topology.kubernetes.io/zone'

/** No endpoint should get more than its fair share of traffic by more than this. */
const overloadMax = 0.2

/** What is said of a service whose endpoints are allocated to zones (upstream: endpointslice/topologycache). */
export const hintsEnabled = 'Topology Aware Hints has been enabled'
export const hintsDisabled = 'Topology Aware Hints has been disabled'
const unknownNodes = 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'
const tooFewEndpoints = 'Insufficient number of endpoints'
const wouldOverload = 'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold'
const endpointWithoutZone = 'One or more endpoints do not have a zone specified'

/** Whether endpoints are allocated to zones by how much the zones can do. It goes before the service's traffic distribution. */
export function wantsTopologyHints({ metadata: { annotations = {} } }: Service): boolean {
  // The former annotation goes first, as upstream.
  const mode =
    annotations['service.kubernetes.io/topology-aware-hints'] ?? annotations['service.kubernetes.io/topology-mode']
  return mode === 'Auto' || mode === 'auto'
}

/** The share of all CPU that each zone has; undefined where that is not known of all nodes, or there is but one zone. */
export function zoneShares(nodes: readonly Node[]): ReadonlyMap<string, number> | undefined {
  const byZone = new Map<string, number>()
  for (const node of nodes) {
    if (isControlPlane(node) || readyStatus(node) !== 'True') continue
    const zone = node.metadata.labels?.[zoneLabel] ?? ''
    const cpu = quantityMilli(node.status?.allocatable?.cpu ?? '0')
    if (zone === '' || cpu === 0) return undefined
    byZone.set(zone, (byZone.get(zone) ?? 0) + cpu)
  }
  if (byZone.size < 2) return undefined
  const total = [...byZone.values()].reduce((sum, cpu) => sum + cpu, 0)
  return new Map([...byZone].map(([zone, cpu]) => [zone, cpu / total]))
}

const isControlPlane = ({ metadata: { labels = {} } }: Node): boolean =>
  'node-role.kubernetes.io/control-plane' in labels || 'node-role.kubernetes.io/master' in labels

/** The zone of each endpoint that is ready, or why there are none. */
export type ZoneHints =
  | { readonly zones: ReadonlyMap<Endpoint, string> }
  | { readonly zones: undefined; readonly why: string }

/** How many endpoints a zone gets. */
interface Allocation {
  readonly desired: number
  readonly minimum: number
  readonly maximum: number
}

/**
 * Allocates endpoints to zones: each to its own at first, then from zones with more than their share to those with less. `zoneOf` tells
 * for which zone an endpoint is now: as long as that is fair nothing moves. Pure.
 */
export function allocateToZones(
  endpoints: readonly Endpoint[],
  shares: ReadonlyMap<string, number> | undefined,
  zoneOf: (endpoint: Endpoint) => string | undefined,
): ZoneHints {
  const ready = endpoints.filter(({ conditions }) => conditions?.ready === true)
  if (shares === undefined) return { zones: undefined, why: unknownNodes }
  const sizes = `(${ready.length} endpoints, ${shares.size} zones)`
  if (shares.size > ready.length) return { zones: undefined, why: `${tooFewEndpoints} ${sizes}` }
  const allocations = allocationsOf(ready.length, shares)
  if (allocations === undefined) return { zones: undefined, why: `${wouldOverload} ${sizes}` }
  if (ready.some(({ zone = '' }) => zone === '')) return { zones: undefined, why: endpointWithoutZone }
  const present = new Map(ready.map((endpoint) => [endpoint, zoneOf(endpoint) ?? '']))
  if (isFair(present, allocations)) return { zones: present }
  return { zones: redistributed(ready, allocations) }
}

/** Undefined where some zone would get too few, so that its endpoints would be overloaded. */
function allocationsOf(
  count: number,
  shares: ReadonlyMap<string, number>,
): ReadonlyMap<string, Allocation> | undefined {
  const minimums = new Map([...shares].map(([zone, share]) => [zone, Math.ceil((share * count) / (1 + overloadMax))]))
  const spare = count - [...minimums.values()].reduce((sum, minimum) => sum + minimum, 0)
  if (spare < 0) return undefined
  return new Map(
    [...shares].map(([zone, share]) => {
      const minimum = minimums.get(zone) ?? 0
      return [zone, { desired: Math.max(share * count, minimum), minimum, maximum: minimum + spare }]
    }),
  )
}

function isFair(zones: ReadonlyMap<Endpoint, string>, allocations: ReadonlyMap<string, Allocation>): boolean {
  const counts = countsOf(zones.values())
  if ([...counts.keys()].some((zone) => !allocations.has(zone))) return false
  return [...allocations].every(([zone, { minimum, maximum }]) => {
    const count = counts.get(zone) ?? 0
    return count >= minimum && count <= maximum
  })
}

function redistributed(
  ready: readonly Endpoint[],
  allocations: ReadonlyMap<string, Allocation>,
): ReadonlyMap<Endpoint, string> {
  const zones = new Map(ready.map((endpoint) => [endpoint, endpoint.zone ?? '']))
  const { giving, receiving } = transfers(allocations, countsOf(zones.values()))
  for (const [endpoint, own] of zones) {
    const [receiver] = receiving.keys()
    if (receiver === undefined) break
    if (!giving.has(own)) continue
    zones.set(endpoint, receiver)
    takeOne(giving, own)
    takeOne(receiving, receiver)
  }
  return zones
}

/** How many endpoints each zone gives away, and how many each gets: whole ones, from who has most to who lacks most. */
function transfers(
  allocations: ReadonlyMap<string, Allocation>,
  counts: ReadonlyMap<string, number>,
): { readonly giving: Map<string, number>; readonly receiving: Map<string, number> } {
  const [surplus, lack] = [new Map<string, number>(), new Map<string, number>()]
  for (const [zone, { desired }] of allocations) {
    const more = (counts.get(zone) ?? 0) - desired
    if (more > 0) surplus.set(zone, more)
    else if (more < 0) lack.set(zone, -more)
  }
  const [giving, receiving] = [new Map<string, number>(), new Map<string, number>()]
  for (;;) {
    const [from, to] = [mostOf(surplus), mostOf(lack)]
    if (from === undefined || to === undefined) return { giving, receiving }
    const isWorthwhile = Math.max(from.amount, to.amount) >= 1 && Math.min(from.amount, to.amount) >= 0.5
    if (!isWorthwhile) return { giving, receiving }
    surplus.set(from.zone, from.amount - 1)
    lack.set(to.zone, to.amount - 1)
    giving.set(from.zone, (giving.get(from.zone) ?? 0) + 1)
    receiving.set(to.zone, (receiving.get(to.zone) ?? 0) + 1)
  }
}

function mostOf(amounts: ReadonlyMap<string, number>): { readonly zone: string; readonly amount: number } | undefined {
  return [...amounts]
    .filter(([, amount]) => amount > 0)
    .map(([zone, amount]) => ({ zone, amount }))
    .sort((a, b) => b.amount - a.amount || (a.zone < b.zone ? -1 : 1))[0]
}

function takeOne(counts: Map<string, number>, zone: string): void {
  const left = (counts.get(zone) ?? 0) - 1
  if (left > 0) counts.set(zone, left)
  else counts.delete(zone)
}

function countsOf(zones: Iterable<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const zone of zones) counts.set(zone, (counts.get(zone) ?? 0) + 1)
  return counts
}
