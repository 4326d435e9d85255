import { compareText } from '@coracle/api'
import type { GraphNode } from './graph.ts'
import { type Identity, identityOfOwner, identityText, refersTo } from './identity.ts'
import { referencesTo } from './owner-references.ts'

/**
 * Dependents that name an owner of this UID by exactly this identity, and those that call it something else. One with two
 * references to the UID may be in both.
 */
export function partitionDependents(
  dependents: Iterable<GraphNode>,
  owner: Identity,
): { readonly matching: readonly GraphNode[]; readonly others: readonly GraphNode[] } {
  const matching: GraphNode[] = []
  const others: GraphNode[] = []
  for (const dependent of dependents) {
    const references = referencesTo(dependent.owners, owner.uid)
    const canReach = owner.namespace === '' || owner.namespace === dependent.identity.namespace
    if (canReach && references.some((reference) => refersTo(reference, owner))) matching.push(dependent)
    if (!canReach || references.some((reference) => !refersTo(reference, owner))) others.push(dependent)
  }
  return { matching, others }
}

/**
 * What else the dependents take an owner for that does not exist as `absent`: the next after it in a fixed order, or the first, so
 * that in the end each of their opinions has been tried.
 */
export function alternateOwnerIdentity(dependents: readonly GraphNode[], absent: Identity): Identity | undefined {
  const alternates = new Map<string, Identity>()
  for (const { owners, identity } of dependents) {
    for (const reference of referencesTo(owners, absent.uid)) {
      // Kinds are either namespaced or not: of one known to be cluster-scoped the namespace means nothing.
      const isSameKind = reference.kind === absent.kind && reference.apiVersion === absent.apiVersion
      const alternate = identityOfOwner(reference, absent.namespace === '' && isSameKind ? '' : identity.namespace)
      if (identityText(alternate) !== identityText(absent)) alternates.set(identityText(alternate), alternate)
    }
  }
  const inOrder = [...alternates.values()].sort(compareIdentities)
  return inOrder.find((alternate) => compareIdentities(absent, alternate) < 0) ?? inOrder[0]
}

function compareIdentities(a: Identity, b: Identity): number {
  return (
    compareText(a.kind, b.kind) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name)
  )
}
