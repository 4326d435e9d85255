import { deepEqual, type Lease, leases, type Node, nodes, type Pod, pods as podResource } from '@coracle/api'
import {
  type Change,
  type Controller,
  controller,
  type Lookup,
  performPlan,
  type ReconcileContext,
} from '@coracle/controller-runtime'
import type { Environment, Time } from '@coracle/environment'
import { byNode, isBound, nodeIndexName } from '../pods/by-node.ts'
import { Departures } from './departures.ts'
import { isEvicting } from './eviction.ts'
import { NodeEvictions } from './node-evictions.ts'
import { planNode } from './plan.ts'
import { readyStatus } from './ready.ts'
import { nodeOfLease, SignsOfLife } from './signs-of-life.ts'

/** How long a node may be silent before it counts as lost, and one that has never reported (upstream's defaults). */
export const nodeMonitorGraceMs = 50_000
export const nodeStartupGraceMs = 60_000

/** How often a node that is not ready is looked at. */
export const unreadyCheckMs = 5000

/**
 * A look that comes later than this was held up, as by a process that stood still, and the agents' reports with it: a node that was
 * well counts as heard then, and gets its grace again.
 */
const lateLookMs = 5000

/** What is remembered about a node between two looks. */
interface KnownNode {
  readonly node: Node
  /** Whether a look finds nothing before the node falls silent, or changes: it is ready, and all that had to be done is done. */
  readonly isWell: boolean
  /** Since when it is known not to be ready, on the monotonic clock; undefined while it is. */
  readonly unreadySinceMs: number | undefined
  /** When its pods will have to leave, by UID. */
  readonly awaited: ReadonlyMap<string, Time>
  /** When the next look is due at the latest, on the monotonic clock. */
  readonly lookDueMs: number
}

/** What the controller is made from. */
export interface NodeLifecycleOptions {
  readonly environment: Pick<Environment, 'clock'>
}

/**
 * Watches over nodes that stop reporting, and moves pods off nodes they do not tolerate. A renewal of a lease is noted, and leads to
 * a look only at a node that is not well: of a thousand nodes a hundred renew each second.
 */
export function createNodeLifecycleController({ environment }: NodeLifecycleOptions): Controller {
  const known = new Map<string, KnownNode>()
  const signs = new SignsOfLife(environment.clock)
  const evictions = new NodeEvictions()
  const departures = new Departures()
  const nodeNotWell = (lease: Lease): readonly string[] => {
    const name = nodeOfLease(lease)
    return name === undefined || known.get(name)?.isWell === true ? [] : [name]
  }
  return controller('node-controller', { component: 'node-controller' })
    .for(nodes, { aggregates: [signs.nodes] })
    .watches(leases, nodeNotWell, { aggregates: [signs.leases] })
    .watches(podResource, evictingNode, { predicates: [changesEviction], indexes: { [nodeIndexName]: byNode } })
    .reconcile(async ({ object: node, name }, context) => {
      evictions.begin(() => context.informer(nodes).list())
      const before = known.get(name)
      if (before !== undefined && before.node.metadata.uid !== node?.metadata.uid) {
        known.delete(name)
        reportRemoval(before.node, context)
      }
      if (node === undefined) {
        evictions.forget(name)
        departures.forget(name)
        signs.forget(name)
        return undefined
      }
      const nowMs = context.clock.monotonicMs()
      const last = known.get(name)
      const ready = readyStatus(node)
      const graceMs = ready === undefined ? nodeStartupGraceMs : nodeMonitorGraceMs
      const dueMs = Math.min(last?.lookDueMs ?? Number.POSITIVE_INFINITY, signs.seenMs(name) + graceMs)
      const isLate = last?.unreadySinceMs === undefined && nowMs > dueMs + lateLookMs
      const silentAtMs = graceMs + (last === undefined || isLate ? signs.hear(name) : signs.seenMs(name))
      const isSilent = nowMs >= silentAtMs
      const isUnready = isSilent || ready === 'False' || ready === 'Unknown'
      const unreadySinceMs = isUnready ? (last?.unreadySinceMs ?? nowMs) : undefined
      const awaited = last?.awaited ?? nobody
      // The pods matter to few nodes; for the many that are well this costs next to nothing.
      const needsPods = isUnready || awaited.size > 0 || isEvicting(node.spec?.taints)
      const pods = needsPods ? context.informer(podResource).byIndex(nodeIndexName, name) : []
      const eviction = evictions.decide(node, unreadySinceMs, nowMs)
      const isNew = last === undefined
      const departuresMax = needsPods ? departures.left(node, nowMs) : 0
      const plan = planNode({ node, pods, isSilent, eviction, isNew, awaited, departuresMax }, context.clock.now())
      if (plan.departures > 0) departures.note(node, departuresMax - plan.departures, nowMs)
      const againMs = isUnready ? unreadyCheckMs : silentAtMs - nowMs
      const current = { node, isWell: false, unreadySinceMs, awaited: plan.awaited, lookDueMs: nowMs + againMs }
      known.set(name, current)
      const result = await performPlan(context, node, plan)
      const isWell = ready === 'True' && !isUnready && result?.requeueAfterMs === undefined
      known.set(name, { ...current, isWell })
      return { requeueAfterMs: Math.min(againMs, result?.requeueAfterMs ?? againMs), housekeeping: isWell }
    })
}

const nobody: ReadonlyMap<string, Time> = new Map()

function reportRemoval(
  { apiVersion, kind, metadata }: Node,
  { recorder }: Pick<ReconcileContext<Node>, 'recorder'>,
): void {
  const { name = '', uid = '' } = metadata
  const message = `Node ${name} event: Removing Node ${name} from Controller`
  recorder.event({ apiVersion, kind, metadata: { name, uid } }, 'Normal', 'RemovingNode', message)
}

function changesEviction(change: Change<Pod>): boolean {
  if (change.type !== 'update') return change.type === 'add'
  const { old, object } = change
  return old.spec.nodeName !== object.spec.nodeName || !deepEqual(old.spec.tolerations, object.spec.tolerations)
}

function evictingNode({ spec: { nodeName } }: Pod, lookup: Lookup): readonly string[] {
  if (!isBound(nodeName)) return []
  return isEvicting(lookup.informer(nodes).get(nodeName)?.spec?.taints) ? [nodeName] : []
}
