import { compareText, deepEqual, type KubernetesObject, type OwnerReference } from '@coracle/api'
import { hasFinalizer, isBeingDeleted } from '@coracle/controller-runtime'
import type { AbsentOwners } from './absent-owners.ts'
import { alternateOwnerIdentity, partitionDependents } from './disputed-owner.ts'
import { type Identity, identityOf, identityOfOwner, identityText, refersTo } from './identity.ts'
import { referencesTo } from './owner-references.ts'

/** Finalizers by which the garbage collector takes part in a deletion. */
export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/** An object in the graph, or one that others name as their owner and that nobody has seen yet: a virtual node. */
export interface GraphNode {
  readonly identity: Identity
  /** As last seen; undefined for a virtual node. */
  readonly object: KubernetesObject | undefined
  readonly owners: readonly OwnerReference[]
  readonly dependents: ReadonlySet<GraphNode>
}

/** What changes of the graph make necessary. */
export interface GraphListener {
  /** Decide whether this object is to go. */
  attemptDelete(node: GraphNode, options?: { readonly isRetry: boolean }): void
  /** Free the dependents of this object, which is being deleted without them. */
  attemptOrphan(node: GraphNode): void
  /** The dependent names an owner that is in another namespace, where it cannot be owned from. */
  namespaceMismatch(dependent: GraphNode, ownerUid: string): void
}

interface MutableNode extends GraphNode {
  identity: Identity
  object: KubernetesObject | undefined
  owners: readonly OwnerReference[]
  dependents: Set<MutableNode>
}

const noOwners: readonly OwnerReference[] = []
/** Most objects have no dependents: they share this set, and get their own with the first. */
const noDependents: Set<MutableNode> = new Set()

/**
 * Who owns whom among all objects of the API. It learns from changes and says what to look at again. The semantics are those
 * of upstream's GraphBuilder: https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 */
export class DependencyGraph {
  readonly #nodes = new Map<string, MutableNode>()
  readonly #absentOwners: AbsentOwners
  readonly #listener: GraphListener

  constructor(absentOwners: AbsentOwners, listener: GraphListener) {
    this.#absentOwners = absentOwners
    this.#listener = listener
  }

  get size(): number {
    return this.#nodes.size
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid)
  }

  /** Takes in an object that was added or has changed. */
  observe(object: KubernetesObject): void {
    const uid = object.metadata.uid ?? ''
    const node = this.#nodes.get(uid)
    if (node === undefined) {
      this.#insert(object)
      return
    }
    const old = node.object
    if (old === undefined) this.#confirm(node, identityOf(object))
    node.object = object
    this.#updateOwners(node, object.metadata.ownerReferences ?? noOwners)
    this.#processTransitions(old, object, node)
  }

  /** Takes out an object that is gone. What depended on it is looked at. */
  remove(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node !== undefined) this.#remove(node)
  }

  /** Nobody tells any more whether an object is there. It may be: what depends on it stays as it is. */
  forget(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node === undefined) return
    for (const owner of node.owners) this.#leave(owner, node)
    node.object = undefined
    node.owners = noOwners
    if (node.dependents.size === 0) this.#nodes.delete(uid)
  }

  /**
   * Nothing was found under this identity. For a virtual node that is not the end: where its dependents disagree on what it
   * is, the next of their opinions is tried.
   */
  removeAbsent(identity: Identity): void {
    const node = this.#nodes.get(identity.uid)
    if (node === undefined) return
    const isVirtual = node.object === undefined
    if (!isVirtual && identityText(node.identity) === identityText(identity)) {
      this.#remove(node)
      return
    }
    const { matching, others } = partitionDependents(node.dependents, identity)
    if (isVirtual && others.length === 0) {
      this.#remove(node)
      return
    }
    if (matching.length > 0) {
      this.#absentOwners.add(identity)
      for (const dependent of matching) this.#listener.attemptDelete(dependent)
    }
    if (!isVirtual || identityText(node.identity) !== identityText(identity)) return
    const alternate = alternateOwnerIdentity(others, identity)
    if (alternate === undefined) return
    node.identity = alternate
    this.#listener.attemptDelete(node, { isRetry: true })
  }

  #insert(object: KubernetesObject): void {
    const { ownerReferences: owners = noOwners } = object.metadata
    const node: MutableNode = { identity: identityOf(object), object, owners, dependents: noDependents }
    this.#nodes.set(node.identity.uid, node)
    this.#addToOwners(node, owners)
    this.#processTransitions(undefined, object, node)
  }

  /** A virtual node turns out to be real. Dependents that took it for something else have to be looked at. */
  #confirm(node: MutableNode, identity: Identity): void {
    if (identityText(identity) === identityText(node.identity)) return
    for (const dependent of partitionDependents(node.dependents, identity).others) {
      if (identity.namespace !== '' && dependent.identity.namespace !== identity.namespace) {
        this.#listener.namespaceMismatch(dependent, identity.uid)
      }
      this.#listener.attemptDelete(dependent)
    }
    node.identity = identity
  }

  #updateOwners(node: MutableNode, owners: readonly OwnerReference[]): void {
    const old = node.owners
    if (old === owners || deepEqual(old, owners)) return
    node.owners = owners
    const kept = (list: readonly OwnerReference[], uid: string) => referencesTo(list, uid)[0]
    const removed = old.filter(({ uid }) => kept(owners, uid) === undefined)
    const added = owners.filter(({ uid }) => kept(old, uid) === undefined)
    const unblocked = old.filter(
      ({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && kept(owners, uid)?.blockOwnerDeletion !== true,
    )
    this.#addToOwners(node, added)
    for (const owner of removed) this.#leave(owner, node)
    for (const { uid } of unblocked) {
      const owner = this.#nodes.get(uid)
      if (owner !== undefined) this.#listener.attemptDelete(owner)
    }
  }

  /** Enters a node under its owners. What is doubtful about a reference is left to the attempt, which asks the server. */
  #addToOwners(node: MutableNode, references: readonly OwnerReference[]): void {
    let isDoubtful = false
    for (const reference of references) {
      const known = this.#nodes.get(reference.uid)
      const owner = known ?? this.#insertVirtual(identityOfOwner(reference, node.identity.namespace))
      if (owner.dependents === noDependents) owner.dependents = new Set()
      owner.dependents.add(node)
      if (known === undefined) this.#listener.attemptDelete(owner)
      else isDoubtful ||= this.#isDoubtful(node, reference, owner)
    }
    if (isDoubtful) this.#listener.attemptDelete(node)
  }

  /** A virtual node is there for its dependents alone: without them nobody would look for it, nor hear that it is gone. */
  #leave({ uid }: OwnerReference, dependent: MutableNode): void {
    const owner = this.#nodes.get(uid)
    if (owner === undefined) return
    owner.dependents.delete(dependent)
    if (owner.object === undefined && owner.dependents.size === 0) this.#nodes.delete(uid)
  }

  #isDoubtful(node: MutableNode, reference: OwnerReference, owner: MutableNode): boolean {
    const isElsewhere = owner.identity.namespace !== node.identity.namespace
    if (owner.identity.namespace !== '' && isElsewhere) {
      if (owner.object !== undefined) this.#listener.namespaceMismatch(node, reference.uid)
      return true
    }
    // It has come too late to be told when the deletion of its owner began, which waits for it all the same.
    if (isDeletingDependents(owner)) return true
    if (!refersTo(reference, owner.identity)) return true
    // A virtual owner without a namespace may be a mistake of a cluster-scoped dependent.
    return isElsewhere && owner.object === undefined
  }

  #insertVirtual(identity: Identity): MutableNode {
    const node: MutableNode = { identity, object: undefined, owners: noOwners, dependents: noDependents }
    this.#nodes.set(identity.uid, node)
    return node
  }

  #processTransitions(old: KubernetesObject | undefined, object: KubernetesObject, node: MutableNode): void {
    if (!isBeingDeleted(object)) return
    if (hasFinalizer(object, orphanFinalizer)) {
      if (old === undefined || !isDeletedWith(old, orphanFinalizer)) this.#listener.attemptOrphan(node)
      return
    }
    if (!isDeletingDependents(node) || (old !== undefined && isDeletedWith(old, foregroundFinalizer))) return
    for (const dependent of inOrder(node.dependents)) this.#listener.attemptDelete(dependent)
    this.#listener.attemptDelete(node)
  }

  #remove(node: MutableNode): void {
    this.#nodes.delete(node.identity.uid)
    for (const owner of node.owners) this.#leave(owner, node)
    if (node.dependents.size > 0) this.#absentOwners.add(node.identity)
    for (const dependent of inOrder(node.dependents)) this.#listener.attemptDelete(dependent)
    for (const { uid } of node.owners) {
      const owner = this.#nodes.get(uid)
      // Asked once, with the last of them: else each of a thousand dependents would cost a look at all the others.
      if (owner !== undefined && isDeletingDependents(owner) && !isBlocked(owner)) this.#listener.attemptDelete(owner)
    }
  }
}

/** Whether the object is being deleted in the foreground: it stays until the dependents that block it are gone. */
export function isDeletingDependents({ object }: GraphNode): boolean {
  return object !== undefined && isDeletedWith(object, foregroundFinalizer)
}

/** Dependents without whose end the owner must not go. */
export function blockingDependents(node: GraphNode): readonly GraphNode[] {
  return inOrder([...node.dependents].filter((dependent) => blocks(dependent, node)))
}

/**
 * Dependents by their names, whenever each was heard of: a collector that has just started, or plays its part in a copy of the
 * cluster, goes the way that one goes which has seen them come.
 */
export function inOrder<N extends GraphNode>(dependents: Iterable<N>): readonly N[] {
  return [...dependents].sort(({ identity: a }, { identity: b }) => compareText(a.name, b.name))
}

/** Whether there are any. */
export function isBlocked(node: GraphNode): boolean {
  for (const dependent of node.dependents) if (blocks(dependent, node)) return true
  return false
}

/** What is in another namespace has no say in this one, whatever owner it names. */
function blocks(dependent: GraphNode, owner: GraphNode): boolean {
  const { namespace } = owner.identity
  if (namespace !== '' && namespace !== dependent.identity.namespace) return false
  return referencesTo(dependent.owners, owner.identity.uid).some((each) => each.blockOwnerDeletion === true)
}

function isDeletedWith(object: KubernetesObject, finalizer: string): boolean {
  return isBeingDeleted(object) && hasFinalizer(object, finalizer)
}
