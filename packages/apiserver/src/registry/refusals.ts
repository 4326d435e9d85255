import {
  type About,
  ApiError,
  alreadyExists,
  conflict,
  FieldPath,
  internalError,
  invalid,
  invalidField,
  type KubernetesObject,
  type StoredKind,
  staleVersion,
  timeout,
} from '@coracle/api'
import type { UnreadableValueError } from '../watch-cache/unreadable-values.ts'
import { parseResourceVersion } from './list-request.ts'

/** Throws a Conflict where a change was meant for another version of an object, or for another object of its name. */
export function checkVersion(
  definition: StoredKind,
  { metadata }: KubernetesObject,
  wanted: { readonly resourceVersion?: string | undefined; readonly uid?: string | undefined },
): void {
  const { name = '', uid = '', resourceVersion = '' } = metadata
  const wantedUid = wanted.uid ?? ''
  const wantedVersion = isUnconditional(wanted) ? '' : (wanted.resourceVersion ?? '')
  if (wantedUid !== '' && wantedUid !== uid) {
    throw uidConflict(definition, { namespace: metadata.namespace ?? '', name }, wantedUid, uid)
  }
  if (wantedVersion !== '' && Number.isNaN(parseResourceVersion(wantedVersion))) throw noNumber(wantedVersion)
  if (wantedVersion === '' && !definition.rules.updatesUnconditionally) {
    const error = invalidField(FieldPath.of('metadata', 'resourceVersion'), 0, 'must be specified for an update')
    // It is the resource that upstream names here, not its kind.
    throw invalid({ group: definition.group, kind: definition.plural }, name, [error])
  }
  if (wantedVersion !== '' && wantedVersion !== resourceVersion) throw staleVersion(definition, name)
}

/** Whether a change is meant for whatever version there is: it names none, or `0`, as upstream takes it. */
export function isUnconditional({ resourceVersion = '' }: { readonly resourceVersion?: string | undefined }): boolean {
  return resourceVersion === '' || resourceVersion === '0'
}

/** A version that is no number: for upstream it is no client's mistake. */
function noNumber(version: string): ApiError {
  const why = /^\d+$/.test(version) ? 'value out of range' : 'invalid syntax'
  return new ApiError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(version)}: ${why}`)
}

/** Where upstream's store has other names for resources than its paths, its messages have them too. */
const storedAs: Readonly<Record<string, string>> = { nodes: 'minions', replicationcontrollers: 'controllers' }

/** Groups of servers inside of upstream's that keep what they store under the group's name, too. Custom kinds are stored so as well. */
const groupsInKeys: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io'])

/** The beginning of the keys of a kind in upstream's store. */
function storagePrefix({ group, plural, custom }: StoredAbout): readonly string[] {
  if (custom !== undefined || groupsInKeys.has(group)) return ['/registry', group, plural]
  return ['/registry', group === '' ? (storedAs[plural] ?? plural) : plural]
}

type StoredAbout = About & Partial<Pick<StoredKind, 'custom'>>

/** The object an update was meant for has gone; `found` is the uid of the one there now, or ''. */
export function uidConflict(
  about: StoredAbout,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  wanted: string,
  found: string,
): ApiError {
  const why = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`
  const key = [...storagePrefix(about), ...(namespace === '' ? [] : [namespace]), name].join('/')
  return conflict(
    about,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  )
}

/** The name of a new object is taken, perhaps by one that is on its way out. */
export function nameTaken(about: About, name: string, existing: KubernetesObject | undefined): ApiError {
  const error = alreadyExists(about, name)
  if (existing?.metadata.deletionTimestamp === undefined) return error
  return new ApiError(409, 'AlreadyExists', `object is being deleted: ${error.message}`, error.status.details)
}

/** What was to be written together with a new object others kept changing. */
export const writtenAlongside = ({ plural }: About, name: string): ApiError =>
  timeout(`${plural} ${JSON.stringify(name)} could not be created: what is written with it is changed by others`, 1)

/** No generated name was free. */
export function noUniqueName(about: About, name: string): ApiError {
  const { message, status } = alreadyExists(about, name)
  const why = `${message}, the server was not able to generate a unique name for the object`
  return new ApiError(409, 'AlreadyExists', why, { ...status.details, retryAfterSeconds: 1 })
}

/** Most values that an answer names of those that cannot be read. */
export const unreadableItemsMax = 100

/** Something is stored that is no object of its kind. The key is the one in the store: whoever is to mend the value looks for it there. */
export const unreadableObject = (error: UnreadableValueError): ApiError => internalError(corruptObject(error))

/** What is asked for, or may be, cannot be read. As upstream since 1.37; before, a list failed with what was wrong with the first value alone. */
export function unreadableItems({ group, plural }: About, errors: readonly UnreadableValueError[]): ApiError {
  const causes = errors.slice(0, unreadableItemsMax).map((error) => ({
    reason: 'UnexpectedServerResponse',
    message: corruptObject(error),
    field: error.key,
  }))
  const first = causes[0]?.message ?? ''
  const resource = group === '' ? plural : `${plural}.${group}`
  const more = causes.length > 1 ? ` (and ${causes.length - 1} more)` : ''
  const truncated = { reason: 'FieldValueTooMany', message: 'too many errors, the list is truncated' }
  return new ApiError(
    500,
    'StorageReadError',
    `failed to read one or more ${resource} from the storage: ${first}${more}`,
    {
      name: 'list',
      ...(group === '' ? {} : { group }),
      kind: plural,
      causes: errors.length < unreadableItemsMax ? causes : [...causes, truncated],
    },
  )
}

const corruptObject = ({ key, revision, cause }: UnreadableValueError): string =>
  `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=${revision}: ${
    cause instanceof Error ? cause.message : String(cause)
  }`
