import type { KubernetesObject, Pod } from '@coracle/api'
import { type Change, type Invariant, labelOf, type View } from '../view.ts'
import { isKeptByItsUser } from './convergence.ts'

/** What deletion promises. Made for each run: it remembers who was given up. */
export function deletionInvariants(): readonly Invariant[] {
  const orphans = new Map<string, Orphans>()
  const foreground = new Map<string, number>()
  return [
    { name: 'what an owner owned goes with it', finally: leftBehind },
    { name: 'in the end nobody names an owner that is gone', finally: dangling },
    { name: 'in the foreground an owner goes last', check: (change, view) => goesFirst(change, view, foreground) },
    { name: 'what has another owner stays', check: collectedEarly },
    { name: 'what is orphaned stays', check: (change, view) => takenAlong(change, view, orphans) },
    { name: 'a namespace goes when it is empty', check: goesFull },
  ]
}

/** Nothing is left whose owners are all gone, but a claim that a pod uses which was taken aside. */
function leftBehind(view: View): readonly string[] {
  return [...view.all()]
    .filter(({ metadata }) => (metadata.ownerReferences ?? []).length > 0)
    .filter(({ metadata }) => metadata.ownerReferences?.every(({ uid }) => view.byUid(uid) === undefined))
    .filter((object) => object.metadata.deletionTimestamp === undefined || !isKeptByItsUser(object, view))
    .map(
      (object) =>
        `${labelOf(object)} outlives ${object.metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`,
    )
}

/** Who has other owners is told that one is gone. */
function dangling(view: View): readonly string[] {
  return [...view.all()].flatMap((object) => {
    const owners = object.metadata.ownerReferences ?? []
    const gone = owners.find(({ uid }) => view.byUid(uid) === undefined)
    const isThere = owners.some(({ uid }) => view.byUid(uid) !== undefined)
    return gone === undefined || !isThere ? [] : [`${labelOf(object)} names ${gone.kind} ${gone.name}, which is gone`]
  })
}

const hasFinalizer = ({ metadata }: KubernetesObject, name: string): boolean =>
  metadata.finalizers?.includes(name) === true

/**
 * What is deleted in the foreground waits for those that hold it back, unless its deletion is asked for again, which in the background
 * takes it away at once. `asked` remembers how often the deletion of each had been asked for when it began to wait.
 */
function goesFirst({ old, object }: Change, view: View, asked: Map<string, number>): string | undefined {
  const uid = object?.metadata.uid ?? ''
  if (object !== undefined && hasFinalizer(object, 'foregroundDeletion') && !asked.has(uid))
    asked.set(uid, view.deletionsOf(object))
  if (!view.isCalm || old === undefined || object !== undefined || !hasFinalizer(old, 'foregroundDeletion'))
    return undefined
  const begun = asked.get(old.metadata.uid ?? '')
  if (begun !== undefined && view.deletionsOf(old) > begun) return undefined
  const held = [...view.all()].filter(({ metadata }) =>
    metadata.ownerReferences?.some(
      ({ uid, blockOwnerDeletion }) => uid === old.metadata.uid && blockOwnerDeletion === true,
    ),
  )
  return held.length > 0 ? `${labelOf(old)} goes before ${held.map(labelOf).join(', ')}` : undefined
}

/** Where no user does, and its namespace stays, the garbage collector alone takes a ConfigMap away: it goes with the last of its owners. */
function collectedEarly({ old, object }: Change, view: View): string | undefined {
  if (old?.kind !== 'ConfigMap' || object !== undefined) return undefined
  const { namespace, ownerReferences = [] } = old.metadata
  if (view.deleterOf(old) === 'player') return undefined
  if (isGoing(view.find('Namespace', undefined, namespace ?? ''))) return undefined
  const owner = ownerReferences.find(({ uid }) => !isGoing(view.byUid(uid)))
  return owner === undefined ? undefined : `${labelOf(old)} is gone, and ${owner.kind} ${owner.name} owns it`
}

/** Whether an object is not there, or not for long. */
const isGoing = (object: KubernetesObject | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined || object === undefined

/** The pods that an owner had when it was deleted so that they stay, and how often its deletion had been asked for by then. */
interface Orphans {
  readonly pods: ReadonlySet<string | undefined>
  readonly deletions: number
}

/**
 * The garbage collector deletes no pod of an owner that was deleted so that its pods stay. A pod that is made afterwards, by a controller
 * that has yet to hear of it, goes as any pod whose owner is gone; and all go where somebody asks for that before it is done, which in the
 * background takes the owner away at once.
 */
function takenAlong({ old, object }: Change, view: View, orphans: Map<string, Orphans>): string | undefined {
  const uid = object?.metadata.uid ?? ''
  if (object !== undefined && hasFinalizer(object, 'orphan') && !orphans.has(uid))
    orphans.set(uid, {
      pods: new Set(view.podsOf(uid).map(({ metadata }) => metadata.uid)),
      deletions: view.deletionsOf(object),
    })
  if (object !== undefined && hasFinalizer(object, 'foregroundDeletion')) orphans.delete(uid)
  const gone = object === undefined ? old : undefined
  const asked = gone === undefined ? undefined : orphans.get(gone.metadata.uid ?? '')?.deletions
  if (gone !== undefined && asked !== undefined && view.deletionsOf(gone) > asked)
    orphans.delete(gone.metadata.uid ?? '')
  if (old?.kind !== 'Pod' || old.metadata.deletionTimestamp !== undefined) return undefined
  if (object !== undefined && object.metadata.deletionTimestamp === undefined) return undefined
  const owner = old.metadata.ownerReferences?.find((each) => orphans.get(each.uid)?.pods.has(old.metadata.uid))
  return owner !== undefined && view.deleterOf(old as Pod) === 'generic-garbage-collector'
    ? `${labelOf(old)} is collected with ${owner.kind} ${owner.name}, which gave it up`
    : undefined
}

function goesFull({ old, object }: Change, view: View): string | undefined {
  if (old?.kind !== 'Namespace' || object !== undefined) return undefined
  const left = [...view.all()].filter(({ metadata }) => metadata.namespace === old.metadata.name)
  return left.length > 0 ? `namespace ${old.metadata.name} goes before ${left.map(labelOf).join(', ')}` : undefined
}
