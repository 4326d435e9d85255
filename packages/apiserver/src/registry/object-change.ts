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
import { managerOf, ownersErrors, ownersOfChanged } from './field-ownership.ts'
import { type Pause, pauseFor, putWithinLimit } from './large-objects.ts'
import type { JointWrite } from './object-writer.ts'
import { prepareForUpdate } from './preparation.ts'
import { answerOf, type RegistryParts, warning } from './registry-parts.ts'
import { sharingWith } from './structure-sharing.ts'
import { checkUpdate } from './validation.ts'
import { WriteAdmission } from './write-admission.ts'

/** How often a patch, or an update that names no version, is tried again because another write came first. */
export const optimisticAttemptsMax = 32

/**
 * The queue of a namespace's writes that also change another object, such as a quota, and have lost a race for it. Without a queue
 * hundreds of them at once would hardly ever succeed. It is a key that no object has.
 */
export const alongsideLine = (namespace: string): string => `${namespace}/`

/** A change of an object, computed from its present state. */
export interface Change {
  /** The changed object; through a view, the view's object. */
  readonly object: KubernetesObject
  /** The object in the version of the request. Absent: it is `object`, in the version of the hub. */
  readonly requested?: KubernetesObject
  /** What the client wrote there. */
  readonly managedFields?: ObjectMeta['managedFields']
  /** The owners of fields after the change, where the change knows them: it is an apply. */
  readonly owners?: FieldOwners
  readonly warnings: readonly string[]
  /** False where the change was meant for one version only: if the object has another by then, that is a conflict. */
  readonly repeatable: boolean
  /** Whether it was asked for as a patch; an apply is one in any case. */
  readonly isPatch?: boolean
  /** How many values were decoded for it. Absent: few. */
  readonly valuesCount?: number
  /** The error it is refused with when it is validated: it came as an object of another kind. */
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
 * Changes one object: computes the change from the stored object, and again where another write came first, unless the
 * change was meant for one version. Resolves without writing where nothing changes.
 */
export async function changeObject(parts: RegistryParts, request: ChangeRequest): Promise<WriteResult> {
  const { storage, feed } = parts
  const { cache, turns } = storage
  const key = cache.keyOf(request.namespace, request.name)
  const loading = storage.kind.strategy.load?.()
  if (loading !== undefined) await parts.environment.clock.hold(loading)
  await feed.catchUp()
  // Most writes do not race with others. Those that lose a race queue up: of hundreds at one object hardly any would succeed otherwise.
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
  // Owners that differ in their times alone are not worth a write.
  const isChanged = ends || old.stale || object !== before || !sameOwners(owners, old.owners)
  // An unchanged object was validated when it was written. Rules of custom kinds may depend on the change itself, and admission decides
  // in any case whether the write is allowed now.
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
    const others = [...ownersErrors(owners, change.managedFields), ...(outside ?? [])]
    tolerated = await checkUpdate(parts, object, { stored: old, object: before }, rules, others, pause)
  }
  await admission?.judge(view === undefined ? object : await view.of(object))
  const { strategy } = kind
  const ofKind = rules === 'status' ? strategy.statusWarnings?.(object) : strategy.warnings?.(object, before)
  const warnings = [...given, ...tolerated, ...(ofKind ?? [])]
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
  // The client that removed the last finalizer gets the object without it; watchers get the last state that was stored.
  if (stored !== undefined) {
    return answerOf(parts, ends ? unstored(object, stored.revision, owners) : stored, true, warnings)
  }
  // Where only another object of the transaction has changed, the change is judged again.
  if (!repeatable && parts.storage.peek(request.namespace, name)?.revision !== old.revision)
    throw staleVersion(kind, name)
  return undefined
}

/** The owners of an object's fields after a change; the same list as before where nothing changed hands. What admission adds has no owner. */
async function ownersAfter(
  { storage: { kind }, view, environment }: RegistryParts,
  { context, part, options }: ChangeRequest,
  old: StoredObject,
  hub: KubernetesObject,
  { object, requested, managedFields }: Change,
  pause: Pause | undefined,
): Promise<FieldOwners> {
  // Upstream records no owner for what the server writes because of a posted object, such as a binding.
  if (part.isAdmitted === true) return old.owners
  const { view: ofPart } = part
  const isOfHub = view.isHub || (requested === undefined && ofPart === undefined)
  const definition = isOfHub ? kind : view.definition
  const manager = managerOf(context, options, definition, part.subresource, 'Update')
  const before = isOfHub ? hub : (await view.show(old)).object
  const written = requested ?? ofPart?.beforeAdmission?.(hub, object) ?? ofPart?.apply(hub, object) ?? object
  // What is written through a view of the object, such as its scale, comes out in the hub's form.
  const after = isOfHub || requested !== undefined ? await written : await view.fromHub(await written)
  const nowMs = environment.clock.now()
  return ownersOfChanged({ before, after }, old.owners, {
    kind,
    definition,
    given: managedFields,
    manager,
    nowMs,
    pause,
  })
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
    // As upstream: admission is not told the owners of the old object.
    owners: () => owners,
  })
}
