import type { Node } from '@coracle/api'
import type { NodeInfo } from './node-info.ts'

/** The labels that say in which region and zone a node is, and the names they had before. */
const regionLabels = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'] as const
const zoneLabels = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'] as const

/** Region and zone of a node in one text; empty where it says neither. */
export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const [region, zone] = [regionLabels, zoneLabels].map((names) => {
    const name = names.find((each) => labels[each] !== undefined)
    return name === undefined ? '' : labels[name]
  })
  return region === '' && zone === '' ? '' : `${region}/${zone}`
}

/** The nodes of each zone in their order, one of each zone in turn (upstream's node tree). */
export function interleaveZones(nodes: readonly NodeInfo[]): readonly NodeInfo[] {
  const zones = Map.groupBy(nodes, ({ zone }) => zone)
  if (zones.size <= 1) return nodes
  const longest = Math.max(...[...zones.values()].map(({ length }) => length))
  return Array.from({ length: longest }, (_, turn) => [...zones.values()].flatMap((zone) => zone[turn] ?? [])).flat()
}
