import { deepEqual, type Lease, leases, type Node, nodes, type Pod, pods as podResource } from '@coracle/api'
import { keyText } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  type Lookup,
  performPlan,
  type ReconcileContext,
} from '@coracle/controller-runtime'
import { byNode, isBound, nodeIndexName } from '../pods/by-node.ts'
import { isEvicting } from './eviction.ts'
import { NodeEvictions } from './node-evictions.ts'
import { planNode } from './plan.ts'
import { readyStatus } from './ready.ts'

/** Where the agents of nodes renew a lease each, as a sign of life (KEP-589). */
export const nodeLeaseNamespace = 'kube-node-lease'

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

/** The last sign of life of a node. It is when it was seen here that counts: clocks of nodes may be wrong. */
interface SignOfLife {
  readonly mark: string
  /** On the monotonic clock, so that a host that was asleep does not take its nodes for lost. */
  readonly seenMs: number
}

/** What is remembered about a node between two looks. */
interface KnownNode {
  readonly node: Node
  readonly sign: SignOfLife
  /** Since when it is known not to be ready, on the monotonic clock; undefined while it is. */
  readonly unreadySinceMs: number | undefined
  /** When the next look is due, on the monotonic clock. */
  readonly nextLookMs: number
  /** UIDs of its pods that will have to leave. */
  readonly awaited: ReadonlySet<string>
}

/** Watches over nodes that stop reporting, and moves pods off nodes they do not tolerate. */
export function createNodeLifecycleController(): Controller {
  const known = new Map<string, KnownNode>()
  const evictions = new NodeEvictions()
  return controller('node-controller', { component: 'node-controller' })
    .for(nodes)
    .watches(leases, nodeOfLease)
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
        return undefined
      }
      const nowMs = context.clock.monotonicMs()
      const last = known.get(name)
      const isLate = last !== undefined && last.unreadySinceMs === undefined && nowMs > last.nextLookMs + lateLookMs
      const sign = latestSign(isLate ? undefined : last?.sign, markOf(node, context), nowMs)
      const ready = readyStatus(node)
      const silentAtMs = sign.seenMs + (ready === undefined ? nodeStartupGraceMs : nodeMonitorGraceMs)
      const isSilent = nowMs >= silentAtMs
      const isUnready = isSilent || ready === 'False' || ready === 'Unknown'
      const unreadySinceMs = isUnready ? (last?.unreadySinceMs ?? nowMs) : undefined
      const awaited = last?.awaited ?? nobody
      // The pods matter to few nodes; for the many that are well this costs next to nothing.
      const needsPods = isUnready || awaited.size > 0 || isEvicting(node.spec?.taints)
      const pods = needsPods ? context.informer(podResource).byIndex(nodeIndexName, name) : []
      const eviction = evictions.decide(node, unreadySinceMs, nowMs)
      const isNew = last === undefined
      const plan = planNode({ node, pods, isSilent, eviction, isNew, awaited }, context.clock.now())
      const againMs = isUnready ? unreadyCheckMs : silentAtMs - nowMs
      known.set(name, { node, sign, unreadySinceMs, nextLookMs: nowMs + againMs, awaited: plan.awaited })
      const result = await performPlan(context, node, plan)
      // While its agent reports, a look at a node that is well finds nothing.
      const housekeeping = ready === 'True' && !isUnready && result?.requeueAfterMs === undefined
      return { requeueAfterMs: Math.min(againMs, result?.requeueAfterMs ?? againMs), housekeeping }
    })
}

const nobody: ReadonlySet<string> = new Set()

function reportRemoval(
  { apiVersion, kind, metadata }: Node,
  { recorder }: Pick<ReconcileContext<Node>, 'recorder'>,
): void {
  const { name = '', uid = '' } = metadata
  const message = `Node ${name} event: Removing Node ${name} from Controller`
  recorder.event({ apiVersion, kind, metadata: { name, uid } }, 'Normal', 'RemovingNode', message)
}

function latestSign(known: SignOfLife | undefined, mark: string, nowMs: number): SignOfLife {
  return known?.mark === mark ? known : { mark, seenMs: nowMs }
}

/** Changes with every sign of life: a renewed lease or a new report. */
function markOf(node: Node, lookup: Lookup): string {
  const { uid, name = '' } = node.metadata
  const lease = lookup.informer(leases).get(keyText(nodeLeaseNamespace, name))
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  return `${uid}|${lease?.spec?.renewTime ?? ''}|${ready?.lastHeartbeatTime ?? ''}`
}

function nodeOfLease({ metadata: { namespace, name } }: Lease): readonly string[] {
  return namespace === nodeLeaseNamespace && name !== undefined ? [name] : []
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
