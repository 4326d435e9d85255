import {
  type About,
  ApiError,
  alreadyExists,
  conflict,
  FieldPath,
  invalid,
  invalidField,
  type KubernetesObject,
  type StoredKind,
  staleVersion,
  timeout,
} from '@coracle/api'
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
