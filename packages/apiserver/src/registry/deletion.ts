import {
  type About,
  conflict,
  formatTime,
  type KindRules,
  type KubernetesObject,
  type ObjectMeta,
  parseTime,
  type Status,
  type StoredKind,
  timeMaxMs,
} from '@coracle/api'
import type { DeleteOptions } from '@coracle/client'
import { asTerminating, isHeld, isNamespace } from './namespaces.ts'

/** What a delete request comes to. */
export type DeletionPlan =
  /** The object goes now. `object` is what its deletion has made of it, for the answer. */
  | { readonly type: 'remove'; readonly object: KubernetesObject }
  /** The object is marked and goes at once: whoever watches it learns that it is deleted before it is gone. */
  | { readonly type: 'mark-and-remove'; readonly object: KubernetesObject }
  /** The object is on its way out already and this request changes nothing about it. */
  | { readonly type: 'keep' }
  /** The object stays for now, marked: a finalizer or its grace period holds it. */
  | { readonly type: 'mark'; readonly object: KubernetesObject }

/** The finalizers by which the garbage collector takes part in a deletion. */
export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/**
 * Decides what a delete does (upstream: BeforeDelete and Store.Delete of the generic registry). Pure. A pod on a node gets
 * a deletion timestamp in the future and waits for its node; a pod without one is stored with its marks, and goes; an object with
 * finalizers waits for those; all else goes. A period that runs and is cut to nothing is not stored as that.
 */
export function planDeletion(
  definition: StoredKind,
  given: KubernetesObject,
  options: DeleteOptions,
  nowMs: number,
): DeletionPlan {
  const isFirst = given.metadata.deletionTimestamp === undefined
  const object = isFirst ? (definition.strategy.prepareForDelete?.(given, nowMs) ?? given) : given
  const { metadata } = object
  const finalizers = finalizersAfter(metadata.finalizers ?? [], options, definition.rules)
  if (isNamespace(definition)) {
    if (metadata.deletionTimestamp === undefined) {
      return mark(asTerminating(object), finalizers, { deletionTimestamp: formatTime(nowMs) })
    }
    if (isHeld(definition, object)) return { type: 'keep' }
  }
  // What keeps itself until it is ready to go is marked by itself, without a time that it is given.
  if (isFirst && definition.strategy.prepareForDelete !== undefined) {
    return mark(object, finalizers, { deletionTimestamp: formatTime(nowMs) })
  }
  const graceful = planGrace(definition, object, options, nowMs)
  if (graceful === 'pending') return { type: 'keep' }
  if (graceful !== undefined) {
    const waits = finalizers.length > 0 || (graceful.deletionGracePeriodSeconds ?? 0) > 0
    const marked = mark(object, finalizers, graceful)
    return waits ? marked : { ...marked, type: isFirst ? 'mark-and-remove' : 'remove' }
  }
  if (finalizers.length === 0) return { type: 'remove', object }
  return markForFinalizers(object, finalizers, nowMs)
}

/** Whether an update has taken away what last held a deleted object, so that it goes now. */
export function endsDeletion(definition: StoredKind, object: KubernetesObject, old: KubernetesObject): boolean {
  if (old.metadata.deletionTimestamp === undefined) return false
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) > 0) return false
  return (object.metadata.finalizers ?? []).length === 0 && !isHeld(definition, object)
}

/** Throws a Conflict unless the object is the one a delete was meant for. `about.plural` is the kind, as upstream words it. */
export function checkPreconditions(
  definition: StoredKind,
  metadata: ObjectMeta,
  preconditions: DeleteOptions['preconditions'],
): void {
  if (isNamespace(definition)) checkNamespacePreconditions(definition, metadata, preconditions)
  const { uid, resourceVersion } = preconditions ?? {}
  const about: About = { group: definition.group, plural: definition.kind }
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`
    throw conflict(about, metadata.name ?? '', why)
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`
    throw conflict(about, metadata.name ?? '', why)
  }
}

/** The store of namespaces has words of its own. */
function checkNamespacePreconditions(
  about: About,
  metadata: ObjectMeta,
  preconditions: DeleteOptions['preconditions'],
): void {
  const { uid, resourceVersion } = preconditions ?? {}
  const refuse = (what: string, wanted: string, found = '') =>
    conflict(
      about,
      metadata.name ?? '',
      `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`,
    )
  if (uid !== undefined && uid !== metadata.uid) throw refuse('UID', uid, metadata.uid)
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw refuse('ResourceVersion', resourceVersion, metadata.resourceVersion)
}

/** What a delete answers of a kind whose objects it does not return. */
export function deletedStatus({ group, plural }: About, { metadata }: KubernetesObject): Status {
  const { name = '', uid = '' } = metadata
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid }
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
}

type Mark = Extract<DeletionPlan, { readonly type: 'mark' }>

type Grace = Pick<ObjectMeta, 'deletionTimestamp' | 'deletionGracePeriodSeconds' | 'generation'>

/** The marks of a graceful deletion, `pending` where one is under way and stays as it is, undefined for kinds without. */
function planGrace(
  definition: StoredKind,
  object: KubernetesObject,
  options: DeleteOptions,
  nowMs: number,
): Grace | 'pending' | undefined {
  const { strategy } = definition
  if (strategy.gracePeriodSeconds === undefined) return undefined
  const requested = options.gracePeriodSeconds
  const { deletionTimestamp, deletionGracePeriodSeconds: running = 0 } = object.metadata
  if (deletionTimestamp === undefined) {
    const seconds = notNegative(
      strategy.gracePeriodSeconds(object, requested === undefined ? requested : notNegative(requested)),
    )
    return {
      deletionTimestamp: formatTime(Math.min(nowMs + seconds * 1000, timeMaxMs)),
      deletionGracePeriodSeconds: seconds,
      ...nextGeneration(object.metadata),
    }
  }
  if (running === 0) return undefined
  // A period that runs can only be shortened.
  if (requested === undefined || notNegative(requested) >= running) return 'pending'
  const seconds = notNegative(requested)
  const endMs = parseTime(deletionTimestamp)
  // Of a period that was cut short by the end of time itself the beginning is not known.
  const begunMs = endMs === timeMaxMs ? nowMs : endMs - running * 1000
  const shortenedMs = Math.min(begunMs + seconds * 1000, timeMaxMs)
  return { deletionTimestamp: formatTime(shortenedMs), deletionGracePeriodSeconds: seconds }
}

/** A negative period is taken as one second. */
const notNegative = (seconds: number): number => (seconds < 0 ? 1 : seconds)

function nextGeneration({ generation = 0 }: ObjectMeta): Pick<ObjectMeta, 'generation'> {
  return generation > 0 ? { generation: generation + 1 } : {}
}

function markForFinalizers(object: KubernetesObject, finalizers: readonly string[], nowMs: number): DeletionPlan {
  const { metadata } = object
  const marked = metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0
  if (marked && sameMembers(finalizers, metadata.finalizers ?? [])) return { type: 'keep' }
  const now = formatTime(nowMs)
  const generation = metadata.deletionGracePeriodSeconds === undefined ? nextGeneration(metadata) : {}
  const deletionTimestamp =
    metadata.deletionTimestamp === undefined || parseTime(metadata.deletionTimestamp) > nowMs
      ? now
      : metadata.deletionTimestamp
  return mark(object, finalizers, { deletionTimestamp, deletionGracePeriodSeconds: 0, ...generation })
}

function mark(object: KubernetesObject, finalizers: readonly string[], marks: Grace): Mark {
  const { finalizers: old = [], ...metadata } = object.metadata
  const kept = finalizers.length === 0 ? {} : { finalizers: sameMembers(finalizers, old) ? old : finalizers }
  return { type: 'mark', object: { ...object, metadata: { ...metadata, ...marks, ...kept } } }
}

/** The object's finalizers with the garbage collector's put in or taken out as the request asks. */
function finalizersAfter(finalizers: readonly string[], options: DeleteOptions, rules: KindRules): readonly string[] {
  const policy = propagationOf(finalizers, options, rules)
  const others = finalizers.filter((each) => each !== orphanFinalizer && each !== foregroundFinalizer)
  if (policy === 'Orphan') return [...others, orphanFinalizer]
  if (policy === 'Foreground') return [...others, foregroundFinalizer]
  return others
}

function propagationOf(
  finalizers: readonly string[],
  options: DeleteOptions,
  rules: KindRules,
): 'Background' | 'Foreground' | 'Orphan' {
  if (rules.dependents === 'ignored') return 'Background'
  if (options.propagationPolicy !== undefined) return options.propagationPolicy
  // What the object itself says counts before the kind's default.
  if (finalizers.includes(orphanFinalizer)) return 'Orphan'
  if (finalizers.includes(foregroundFinalizer)) return 'Foreground'
  return rules.dependents === 'orphaned' ? 'Orphan' : 'Background'
}

/** An object may have very many finalizers. */
function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  const members = new Set(b)
  return a.every((each) => members.has(each))
}
