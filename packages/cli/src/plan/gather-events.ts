import type { ObjectName, ReportedEvent } from '@coracle/simulator'

/** Events that say the same of several objects of one owner, in one second. */
export interface EventGroup {
  readonly at: number
  /** What happened, as one says it: `created and ready`. */
  readonly what: string
  /** The one object; the first of several. */
  readonly object: ObjectName
  readonly count: number
  /** Whose they are, where there are several. */
  readonly owner?: ObjectName
  readonly nodes: readonly string[]
  readonly from?: number
  readonly to?: number
  readonly message?: string
}

/** A pod that gets a node and is ready in the same second in which it is created does all that at once, for people. */
const pairs: Readonly<Record<string, string>> = {
  'created scheduled': 'created',
  'created ready': 'created, ready',
  'created unschedulable': 'unschedulable',
  'stopping removed': 'removed',
  'evicted removed': 'evicted',
  'cordoned tainted': 'cordoned',
}

/** What only workloads on top say: a ReplicaSet that is complete says no more than its Deployment. */
const ofTopAlone: ReadonlySet<string> = new Set(['complete', 'updated'])

/** A timeline as people read it: what happens to many pods of one owner at about the same time is told once. Pure. */
export function gatherEvents(timeline: readonly ReportedEvent[]): readonly EventGroup[] {
  const merged: { event: ReportedEvent; what: string; nodes: readonly string[] }[] = []
  const lastOf = new Map<string, number>()
  for (const event of timeline) {
    if (event.workload !== undefined && ofTopAlone.has(event.type)) continue
    const key = JSON.stringify(event.object)
    const index = lastOf.get(key)
    const last = index === undefined ? undefined : merged[index]
    const pair = last === undefined ? undefined : pairs[`${last.what} ${event.type}`]
    const nodes = event.node === undefined ? [] : [event.node]
    if (index !== undefined && last !== undefined && pair !== undefined && secondOf(last.event) === secondOf(event)) {
      merged[index] = {
        event: { ...event, at: last.event.at },
        what: pair,
        nodes: nodes.length > 0 ? nodes : last.nodes,
      }
      continue
    }
    lastOf.set(key, merged.length)
    merged.push({ event, what: event.type, nodes })
  }
  const groups = new Map<string, EventGroup>()
  for (const { event, what, nodes } of merged) {
    const { at, object, controller, from, to, message } = event
    const isGathered = object.kind === 'Pod' && controller !== undefined
    const same = isGathered ? ['pods of', controller, message] : [object, from]
    const key = JSON.stringify([secondOf(event), what, ...same])
    const known = groups.get(key)
    groups.set(key, {
      at: known?.at ?? at,
      what,
      object: known?.object ?? object,
      count: (known?.count ?? 0) + 1,
      ...(controller === undefined ? {} : { owner: controller }),
      nodes: [...new Set([...(known?.nodes ?? []), ...nodes])],
      ...(known?.from === undefined && from === undefined ? {} : { from: known?.from ?? from ?? 0 }),
      ...(to === undefined ? {} : { to }),
      ...(message === undefined ? {} : { message }),
    })
  }
  return [...groups.values()]
}

const secondOf = ({ at }: ReportedEvent): number => Math.floor(at)
