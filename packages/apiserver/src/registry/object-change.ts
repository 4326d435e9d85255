import {
  type ApiError,
  type FieldOwners,
  type KubernetesObject,
  type ObjectMeta,
  sameOwners,
  staleVersion,
} from '@coracle/api'
import type { WriteOrigin } from '../causes/cause-note.ts'
import type { RegistryWriteOptions, WriteResult } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { type StoredObject, unstored } from '../watch-cache/stored-object.ts'
import type { ChangedPart } from './changed-part.ts'
import { endsDeletion } from './deletion.ts'
import { managerOf, ownersOfChanged } from './field-ownership.ts'
import { type Pause, pauseFor, putWithinLimit } from './large-objects.ts'
import type { JointWrite } from './object-writer.ts'
import { prepareForUpdate } from './preparation.ts'
import { answerOf, type RegistryParts, warning } from './registry-parts.ts'
import { sharingWith } from './structure-sharing.ts'
import { checkUpdate } from './validation.ts'
import { WriteAdmission } from './write-admission.ts'

/** How often a patch, or an update that names no version, is tried again because something else came first. */
export const optimisticAttemptsMax = 32

/**
 * Where writes of a namespace line up that change something else along with their objects, such as a quota, once others came first:
 * hundreds at once would all but never come through. The key of a turn that no object has.
 */
export const alongsideLine = (namespace: string): string => `${namespace}/`

/** A change of an object, computed from its present state. */
export interface Change {
  /** The changed object; through a view, the view's object. */
  readonly object: KubernetesObject
  /** The object in the version of the request; that of the hub unless said. */
  readonly requested?: KubernetesObject
  /** What the client wrote there. */
  readonly managedFields?: ObjectMeta['managedFields']
  /** Who owns what after the change, where the change knows: it is an apply. */
  readonly owners?: FieldOwners
  readonly warnings: readonly string[]
  /** False where the change was meant for one version only: if that is gone it is a conflict. */
  readonly repeatable: boolean
  /** Whether it was asked for as a patch; an apply is one in any case. */
  readonly isPatch?: boolean
  /** How many values were decoded for it; few where it is absent. */
  readonly valuesCount?: number
  /** What it is refused with when it is checked: it came as an object of another kind. */
  readonly wrongKind?: ApiError | undefined
}

export interface ChangeRequest {
  readonly context: RequestContext
  readonly namespace: string
  readonly name: string
  readonly part: ChangedPart
  readonly options: RegistryWriteOptions
  compute(old: StoredObject): Change | Promise<Change>
}

/**
 * Changes one object: computes the change from what is there, and again where another write came first, unless the
 * change was meant for one version. Resolves without writing where nothing changes.
 */
export async function changeObject(parts: RegistryParts, request: ChangeRequest): Promise<WriteResult> {
  const { storage, feed } = parts
  const { cache, turns } = storage
  const key = cache.keyOf(request.namespace, request.name)
  const loading = storage.kind.strategy.load?.()
  // Time stands still meanwhile where it is virtual.
  if (loading !== undefined) await parts.environment.clock.hold(loading)
  await feed.catchUp()
  // Most writes meet no other. Those that do line up, or hundreds at one object would all but never come through.
  const made = turns.isTaken(key) ? undefined : await tryChange(parts, key, request)
  if (made !== undefined) return made
  return turns.take(key, async () => {
    let attempt = () => tryChange(parts, key, request)
    for (let attempts = 0; attempts < optimisticAttemptsMax; attempts += 1) {
      const before = cache.get(key)
      const result = await attempt()
      if (result !== undefined) return result
      const isAsBefore = cache.get(key)?.revision === before?.revision
      if (isAsBefore) attempt = () => turns.take(alongsideLine(request.namespace), () => tryChange(parts, key, request))
    }
    throw staleVersion(storage.kind, request.name)
  })
}

/** Undefined where another write came first and the change may be computed anew. */
async function tryChange(parts: RegistryParts, key: string, request: ChangeRequest): Promise<WriteResult | undefined> {
  const { namespace, name } = request
  const { storage } = parts
  const old = storage.existing(namespace, name)
  const inHub = storage.hub.show(old)
  const { object: before } = inHub instanceof Promise ? await inHub : inHub
  const computed = request.compute(old)
  const change = computed instanceof Promise ? await computed : computed
  const carriedOut = carryOut(parts, key, request, { old, before, change })
  return change.warnings.length === 0 ? carriedOut : warning(change.warnings, carriedOut)
}

async function carryOut(
  parts: RegistryParts,
  key: string,
  request: ChangeRequest,
  { old, before, change }: Pick<ChangeWrite, 'old' | 'before' | 'change'>,
): Promise<WriteResult | undefined> {
  const { storage } = parts
  const { kind } = storage
  const { part } = request
  const { view } = part
  const { object: wanted, valuesCount = 0 } = change
  const pause = pauseFor(parts.turns, valuesCount, old.byteLength)
  if (pause !== undefined) await pause()
  const givenOwners = change.owners ?? (await ownersAfter(parts, request, old, before, change, pause))
  if (pause !== undefined) await pause()
  const admission =
    part.isAdmitted === true ? undefined : await updateAdmission(parts, request, before, change, givenOwners)
  const admitted = admission === undefined ? wanted : await admission.admit(wanted)
  const owners = admission === undefined ? givenOwners : admission.ownersAfter(givenOwners)
  const applied = view === undefined ? admitted : view.apply(before, admitted)
  const whole = applied instanceof Promise ? await applied : applied
  const prepared = prepareForUpdate(kind, whole, before, part, parts.environment.clock.now())
  const write = { old, before, change, owners, admission, pause, allocated: [] }
  if (storage.allocator === undefined) return storeChange(parts, key, request, write, prepared)
  const allocation = storage.allocator.allocate(prepared, before)
  try {
    return await storeChange(parts, key, request, { ...write, allocated: allocation.alongside }, allocation.object)
  } finally {
    allocation.release()
  }
}

/** A change on its way into the store. */
interface ChangeWrite {
  readonly old: StoredObject
  readonly before: KubernetesObject
  readonly change: Change
  readonly owners: FieldOwners
  readonly admission: WriteAdmission | undefined
  readonly pause: Pause | undefined
  /** What an allocator writes together with the object. */
  readonly allocated: readonly JointWrite[]
}

/** Checks a changed object and stores it; undefined where another write came first. */
async function storeChange(
  parts: RegistryParts,
  key: string,
  request: ChangeRequest,
  { old, before, change, owners, admission, pause, allocated }: ChangeWrite,
  prepared: KubernetesObject,
): Promise<WriteResult | undefined> {
  const { context, name, part, options } = request
  const { kind, writer } = parts.storage
  const { rules, view } = part
  const { warnings: given, repeatable, wrongKind } = change
  if (wrongKind !== undefined) throw wrongKind
  const object = sharingWith(before, prepared)
  const ends = endsDeletion(kind, object, before)
  // Of the owners, times alone are nothing to write for.
  const isChanged = ends || old.stale || object !== before || !sameOwners(owners, old.owners)
  // What is as it was has been checked when it was written. Whether it may be written now is another question, and rules of custom kinds
  // may be about the change itself.
  let tolerated: readonly string[] = []
  if (isChanged || kind.custom !== undefined) {
    if (pause !== undefined) await pause()
    const outside = parts.storage.outsideRules?.({
      user: context.user,
      definition: kind,
      subresource: part.subresource,
      verb: isPatched(change) ? 'patch' : 'update',
      namespace: request.namespace,
      object,
      old: before,
    })
    tolerated = await checkUpdate(parts, object, { stored: old, object: before }, rules, outside ?? [], pause)
  }
  await admission?.judge(view === undefined ? object : await view.of(object))
  const { strategy } = kind
  const own = rules === 'status' ? strategy.statusWarnings?.(object) : strategy.warnings?.(object, before)
  const warnings = [...given, ...tolerated, ...(own ?? [])]
  if (!isChanged) return answerOf(parts, old, false, warnings)
  if (options.dryRun) return answerOf(parts, unstored(object, old.revision, owners), true, warnings)
  if (pause !== undefined) await pause()
  const origin: WriteOrigin = {
    context,
    verb: 'update',
    subresource: part.subresource,
    fieldManager: options.fieldManager,
    ...(admission === undefined ? {} : { admission: admission.changedBy }),
  }
  const stored = await (ends
    ? writer.remove(key, old, origin, parts.storage.allocator?.freed(before))
    : putWithinLimit(owners, change.owners !== undefined, (kept) =>
        writer.put(key, object, kept, old.revision, origin, [...(admission?.alongside ?? []), ...allocated]),
      ))
  // Whoever took the last finalizer away sees the object as that left it; watchers see the last state it was stored in.
  if (stored !== undefined) {
    return answerOf(parts, ends ? unstored(object, stored.revision, owners) : stored, true, warnings)
  }
  // Where only what was to be changed along with it came first, the change is judged again.
  if (!repeatable && parts.storage.peek(request.namespace, name)?.revision !== old.revision)
    throw staleVersion(kind, name)
  return undefined
}

/** Who owns what of an object after a change; the very owners it had where that is the same. What admission adds nobody owns. */
async function ownersAfter(
  { storage: { kind }, view, environment }: RegistryParts,
  { context, part, options }: ChangeRequest,
  old: StoredObject,
  hub: KubernetesObject,
  { object, requested, managedFields }: Change,
  pause: Pause | undefined,
): Promise<FieldOwners> {
  // What follows from something posted was not written by anybody, as far as upstream's ownership goes.
  if (part.isAdmitted === true) return old.owners
  const { view: ofPart } = part
  const isOfHub = view.isHub || (requested === undefined && ofPart === undefined)
  const definition = isOfHub ? kind : view.definition
  const manager = managerOf(context, options, definition, part.subresource, 'Update')
  const before = isOfHub ? hub : (await view.show(old)).object
  const written = requested ?? ofPart?.beforeAdmission?.(hub, object) ?? ofPart?.apply(hub, object) ?? object
  // What is written through a view of the object, such as its scale, comes out in the hub's form.
  const after = isOfHub || requested !== undefined ? await written : await view.fromHub(await written)
  return ownersOfChanged(
    kind,
    definition,
    { before, after },
    old.owners,
    managedFields,
    manager,
    environment.clock.now(),
    pause,
  )
}

/** Whether a change was asked for as a patch or by an apply. */
const isPatched = (change: Change): boolean => change.isPatch === true || change.owners !== undefined

async function updateAdmission(
  parts: RegistryParts,
  { context, namespace, name, part, options }: ChangeRequest,
  before: KubernetesObject,
  change: Change,
  owners: FieldOwners,
): Promise<WriteAdmission> {
  const { subresource, view } = part
  const isPatch = isPatched(change)
  const common = { operation: 'UPDATE', context, subresource, namespace, name, options, isPatch } as const
  if (view !== undefined) return new WriteAdmission(parts, { ...common, kind: view.kind, old: await view.of(before) })
  return new WriteAdmission(parts, {
    ...common,
    old: before,
    // As upstream: of the object before a change nobody is told who owns what.
    owners: () => owners,
  })
}
