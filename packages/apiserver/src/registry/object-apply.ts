import {
  applyConflict,
  applyRecording,
  conflict,
  emptyObjectOf,
  formatTime,
  hasReason,
  type JudgedApply,
  keepsLastApplied,
  lastAppliedText,
  recordApply,
  withRests,
} from '@coracle/api'
import type { RegistryWriteOptions, WriteResult } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { withConversions } from '../versions/awaited-conversions.ts'
import type { StoredObject } from '../watch-cache/stored-object.ts'
import { type Configuration, withLastApplied } from './apply-configuration.ts'
import type { ChangedPart } from './changed-part.ts'
import { ignoredFields, managerOf } from './field-ownership.ts'
import { pauseFor } from './large-objects.ts'
import { changeObject, optimisticAttemptsMax } from './object-change.ts'
import { createObject } from './object-creation.ts'
import { checkIdentity } from './object-metadata.ts'
import { checkVersion } from './refusals.ts'
import type { RegistryParts } from './registry-parts.ts'
import { decodeRequested, type RequestedBody } from './requested-body.ts'

export interface ApplyRequest {
  readonly context: RequestContext
  readonly namespace: string
  readonly name: string
  /** Through which part of the object. The object itself is created where it is not there. */
  readonly part: ChangedPart
  /** Of the object, in the version that is served, whatever the part shows. */
  readonly configuration: Configuration
  readonly options: RegistryWriteOptions
}

/** Server-side apply. Throws a Conflict that names managers and fields where others own what it would change. */
export async function applyObject(parts: RegistryParts, request: ApplyRequest): Promise<WriteResult> {
  const { context, namespace, name, part, options } = request
  const { storage, feed, view } = parts
  const compute = async (old: StoredObject) => {
    const applied = await appliedTo(parts, request, old)
    checkIdentity(view.definition, applied.object, namespace, name)
    const { resourceVersion } = applied.object.metadata
    checkVersion(storage.kind, old.object, { resourceVersion })
    const object = part.view === undefined ? applied.object : await part.view.of(applied.object)
    return { ...applied, object, repeatable: true }
  }
  for (let attempt = 1; ; attempt += 1) {
    await feed.catchUp()
    storage.checkReadable(namespace, name)
    if (part.subresource === '' && storage.peek(namespace, name) === undefined) {
      const created = await createByApply(parts, request)
      if (created !== undefined) return created
    }
    try {
      return await changeObject(parts, { context, namespace, name, part, options, compute })
    } catch (error) {
      const isGone = hasReason(error, 'NotFound') && storage.peek(namespace, name) === undefined
      if (part.subresource !== '' || !isGone || attempt === optimisticAttemptsMax) throw error
    }
  }
}

/** What an apply makes of an object; `old` is undefined where there is none. */
async function appliedTo(
  parts: RegistryParts,
  { context, part, configuration: { object: configuration, warnings, valuesCount }, options }: ApplyRequest,
  old: StoredObject | undefined,
): Promise<RequestedBody> {
  const { storage, view, environment } = parts
  const { definition } = view
  const { schema } = definition
  const { subresource } = part
  const live = old === undefined ? emptyObjectOf(schema) : (await view.show(old)).object
  const manager = managerOf(context, options, definition, subresource, 'Apply')
  const input = {
    live,
    configuration,
    schema,
    owners: old?.owners ?? [],
    manager,
  }
  const time = formatTime(environment.clock.now())
  const isForced = options.force === true
  const pause = pauseFor(parts.turns, valuesCount, old?.byteLength ?? 0)
  if (pause !== undefined) await pause()
  const { value, owners, conflicts } = await withConversions<JudgedApply>(storage.kind, (versions) => {
    const ignored = (version: string) =>
      ignoredFields(versions.schemaOf(version), definition, storage.kind.rules, subresource)
    const whole = { ...input, versions, ignored }
    return pause === undefined
      ? recordApply(whole, isForced, time)
      : withRests(applyRecording(whole, isForced, time), pause)
  })
  if (conflicts.length > 0) throw applyConflict(conflicts.map((each) => part.view?.conflictOf?.(each) ?? each))
  const keeps = subresource === '' && keepsLastApplied(manager) && lastAppliedText(value) !== undefined
  const whole = keeps ? withLastApplied(value, configuration) : value
  if (pause !== undefined) await pause()
  // What the configuration says was checked when it was read.
  const decoded = await decodeRequested(parts, whole, { ...options, fieldValidation: 'Ignore' }, undefined, true)
  return { ...decoded, warnings, owners }
}

/** Undefined where something else created the object first. */
async function createByApply(parts: RegistryParts, request: ApplyRequest): Promise<WriteResult | undefined> {
  const { context, namespace, name, configuration, options } = request
  const { storage, view } = parts
  const { uid = '' } = configuration.object.metadata
  if (uid !== '') {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
    throw conflict(storage.kind, name, why)
  }
  const applied = await appliedTo(parts, request, undefined)
  checkIdentity(view.definition, applied.object, namespace, name)
  try {
    return {
      ...(await createObject(parts, { context, namespace, body: applied, options, implied: true })),
      created: true,
    }
  } catch (error) {
    if (hasReason(error, 'AlreadyExists') && storage.peek(namespace, name) !== undefined) return undefined
    throw error
  }
}
