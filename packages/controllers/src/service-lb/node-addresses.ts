import { isIPv4, isIPv6 } from 'node:net'
import type { Node } from '@coracle/api'
import { isBeingDeleted } from '@coracle/controller-runtime'
import { readyStatus } from '../node-lifecycle/ready.ts'

const excludedLabel = 'node.kubernetes.io/exclude-from-external-load-balancers'
/** The autoscaler's taint of nodes that are about to go. */
const toBeDeletedTaint = 'ToBeDeletedByClusterAutoscaler'

/** Whether load balancers may lead to a node (upstream's `getNodeConditionPredicate`). */
export function takesBalancedLoad(node: Node): boolean {
  const { metadata, spec } = node
  if (isBeingDeleted(node) || Object.hasOwn(metadata.labels ?? {}, excludedLabel)) return false
  return readyStatus(node) === 'True' && !(spec?.taints ?? []).some(({ key }) => key === toBeDeletedTaint)
}

export type Family = 'IPv4' | 'IPv6'

/** The nodes by address. Nodes of one machine may have one between them. */
export function byAddress(nodes: readonly Node[], families: readonly Family[]): ReadonlyMap<string, readonly Node[]> {
  const found = new Map<string, Node[]>()
  for (const node of nodes) {
    for (const address of families.flatMap((family) => addressesOf(node, family))) {
      const same = found.get(address)
      if (same === undefined) found.set(address, [node])
      else same.push(node)
    }
  }
  return found
}

/** Where a node is reached from elsewhere, or where it does not say, from within the cluster. */
function addressesOf({ status }: Node, family: Family): readonly string[] {
  const isOfFamily = family === 'IPv4' ? isIPv4 : isIPv6
  const of = (wanted: string) =>
    (status?.addresses ?? []).filter(({ type, address }) => type === wanted && isOfFamily(address))
  const external = of('ExternalIP')
  return (external.length > 0 ? external : of('InternalIP')).map(({ address }) => address)
}
