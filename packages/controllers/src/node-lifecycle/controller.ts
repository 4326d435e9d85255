import { deepEqual, type Lease, leases, type Node, nodes, type Pod, pods as podResource } from '@coracle/api'
import { keyText } from '@coracle/client'
import {
  type Change,
  type Controller,
  controller,
  getCondition,
  type Lookup,
  performPlan,
} from '@coracle/controller-runtime'
import { byNode, isBound, nodeIndexName } from '../pods/by-node.ts'
import { isEvicting } from './eviction.ts'
import { planNode } from './plan.ts'

/** Where the agents of nodes renew a lease each, as a sign of life (KEP-589). */
export const nodeLeaseNamespace = 'kube-node-lease'

/** How long a node may be silent before it counts as lost, and one that has never reported (upstream's defaults). */
export const nodeMonitorGraceMs = 50_000
export const nodeStartupGraceMs = 60_000

/** How often a node that is not ready is looked at. */
export const unreadyCheckMs = 5000

/** The last sign of life of a node. It is when it was seen here that counts: clocks of nodes may be wrong. */
interface SignOfLife {
  readonly mark: string
  /** On the monotonic clock, so that a host that was asleep does not take its nodes for lost. */
  readonly seenMs: number
}

/** Watches over nodes that stop reporting, and moves pods off nodes they do not tolerate. */
export function createNodeLifecycleController(): Controller {
  const signs = new Map<string, SignOfLife>()
  return controller('node-controller', { component: 'node-controller' })
    .for(nodes)
    .watches(leases, nodeOfLease)
    .watches(podResource, evictingNode, { predicates: [changesEviction], indexes: { [nodeIndexName]: byNode } })
    .reconcile(async ({ object: node, name }, context) => {
      if (node === undefined) {
        signs.delete(name)
        return undefined
      }
      const nowMs = context.clock.monotonicMs()
      const sign = latestSign(signs.get(name), markOf(node, context), nowMs)
      signs.set(name, sign)
      const ready = readyStatus(node)
      const silentAtMs = sign.seenMs + (ready === undefined ? nodeStartupGraceMs : nodeMonitorGraceMs)
      const isSilent = nowMs >= silentAtMs
      const isUnready = isSilent || ready === 'False' || ready === 'Unknown'
      // The pods and the other nodes matter to few nodes; for the many that are well this costs next to nothing.
      const pods =
        isUnready || isEvicting(node.spec?.taints) ? context.informer(podResource).byIndex(nodeIndexName, name) : []
      const mayEvict = isUnready && isAnyReady(context, name)
      const result = await performPlan(context, node, planNode({ node, pods, isSilent, mayEvict }, context.clock.now()))
      const againMs = isUnready ? unreadyCheckMs : silentAtMs - nowMs
      return { requeueAfterMs: Math.min(againMs, result?.requeueAfterMs ?? againMs) }
    })
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

function isAnyReady(lookup: Lookup, except: string): boolean {
  const all = lookup.informer(nodes).list()
  return all.some((node) => node.metadata.name !== except && readyStatus(node) === 'True')
}

const readyStatus = (node: Node): string | undefined => getCondition(node.status?.conditions, 'Ready')?.status

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
