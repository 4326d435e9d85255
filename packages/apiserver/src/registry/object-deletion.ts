import { type FieldOwners, forbidden, type KubernetesObject, staleVersion } from '@coracle/api'
import type { DeleteOptions } from '@coracle/client'
import type { WriteOrigin } from '../causes/cause-note.ts'
import type { DeleteResult } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { type StoredObject, unstored } from '../watch-cache/stored-object.ts'
import { checkPreconditions, type DeletionPlan, deletedStatus, planDeletion } from './deletion.ts'
import { optimisticAttemptsMax } from './object-change.ts'
import type { RegistryParts } from './registry-parts.ts'
import { WriteAdmission } from './write-admission.ts'

/**
 * Deletes one object, or marks it for whoever holds it to finish. Admission is told its name, but where it goes with a collection that
 * was asked for as a whole (`nameless`).
 */
export async function deleteObject(
  parts: RegistryParts,
  context: RequestContext,
  namespace: string,
  name: string,
  options: DeleteOptions,
  nameless = false,
): Promise<DeleteResult> {
  const { storage, view, feed, environment } = parts
  const { kind, writer } = storage
  const refusal = nameless ? undefined : kind.rules.deletionRefusal?.(name)
  if (refusal !== undefined) throw forbidden(kind, name, refusal)
  const key = storage.cache.keyOf(namespace, name)
  const origin: WriteOrigin = { context, verb: 'delete', subresource: '', fieldManager: '' }
  await feed.catchUp()
  for (let attempt = 0; attempt < optimisticAttemptsMax; attempt += 1) {
    const old = storage.existing(namespace, name)
    // As upstream, which reads in the version of the request: what cannot be shown in it is not deleted through it.
    const shown = view.show(old)
    if (shown instanceof Promise) await shown
    checkPreconditions(kind, old.object.metadata, options.preconditions)
    const admission = new WriteAdmission(parts, {
      operation: 'DELETE',
      context,
      subresource: '',
      namespace,
      name: nameless ? '' : name,
      old: old.object,
      oldOwners: () => old.owners,
      options,
    })
    await admission.admitWithoutObject()
    await admission.judge(undefined)
    const planned = planDeletion(kind, old.object, options, environment.clock.now())
    // What stays is written, and what is written is in the hub's form.
    const marks = planned.type === 'mark' || planned.type === 'mark-and-remove'
    const plan = marks && old.stale ? await planInHub(parts, old, options) : planned
    if (plan.type === 'keep') return { type: 'object', stored: await view.show(old), gone: false }
    if (options.dryRun === true) {
      if (plan.type !== 'mark') return deleted(parts, plan.object, old.owners, old.revision)
      return { type: 'object', stored: await view.show(unstored(plan.object, old.revision, old.owners)), gone: false }
    }
    if (plan.type === 'remove') {
      const gone = await writer.remove(key, old, origin, storage.allocator?.freed(old.object))
      if (gone !== undefined) return deleted(parts, plan.object, old.owners, gone.revision)
    } else {
      const goesAtOnce = plan.type === 'mark-and-remove'
      // Why it goes is recorded once, with its removal.
      const marked = await writer.put(key, plan.object, old.owners, old.revision, goesAtOnce ? undefined : origin)
      if (marked === undefined) continue
      if (goesAtOnce) return removeMarked(parts, marked, origin)
      return { type: 'object', stored: await view.show(marked), gone: false }
    }
  }
  throw staleVersion(kind, name)
}

/**
 * Removes an object that was marked for it, whatever has changed about it since: no finalizer can have come. Whoever removed it first did the
 * same.
 */
async function removeMarked(parts: RegistryParts, marked: StoredObject, origin: WriteOrigin): Promise<DeleteResult> {
  const { storage } = parts
  const { namespace = '', name = '', uid } = marked.object.metadata
  const key = storage.cache.keyOf(namespace, name)
  let last = marked
  for (let attempt = 0; attempt < optimisticAttemptsMax; attempt += 1) {
    const gone = await storage.writer.remove(key, last, origin, storage.allocator?.freed(last.object))
    if (gone !== undefined) return deleted(parts, last.object, last.owners, gone.revision)
    const now = storage.peek(namespace, name)
    if (now === undefined || now.object.metadata.uid !== uid)
      return deleted(parts, last.object, last.owners, last.revision)
    last = now
  }
  throw staleVersion(storage.kind, name)
}

async function planInHub(
  { storage: { kind, hub }, environment }: RegistryParts,
  old: StoredObject,
  options: DeleteOptions,
): Promise<DeletionPlan> {
  const shown = hub.show(old)
  const { object } = shown instanceof Promise ? await shown : shown
  return planDeletion(kind, object, options, environment.clock.now())
}

async function deleted(
  { storage, view }: RegistryParts,
  object: KubernetesObject,
  owners: FieldOwners,
  revision: number,
): Promise<DeleteResult> {
  if (!storage.kind.rules.returnsDeletedObject) return { type: 'status', status: deletedStatus(storage.kind, object) }
  const metadata = { ...object.metadata, resourceVersion: String(revision) }
  return { type: 'object', stored: await view.show(unstored({ ...object, metadata }, revision, owners)), gone: true }
}
