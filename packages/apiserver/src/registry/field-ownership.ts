import {
  apiVersionOf,
  deepEqual,
  emptyObjectOf,
  type FieldError,
  type FieldOwners,
  type FieldSet,
  fieldManagerLengthMax,
  formatTime,
  isJsonObject,
  isPrintable,
  type KindRules,
  type KubernetesObject,
  type Manager,
  managedFieldsErrors,
  managedFieldsOf,
  noFields,
  type ObjectMeta,
  type ObjectSchema,
  ownersOf,
  type ResourceDefinition,
  recordUpdate,
  resetsOwners,
  type Schema,
  type StoredKind,
  UnidentifiedElementError,
  unknownManager,
  updateRecording,
  withRests,
} from '@coracle/api'
import { BoundedMap } from '@coracle/client'
import type { RegistryWriteOptions } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { withConversions } from '../versions/awaited-conversions.ts'
import type { Pause } from './large-objects.ts'
import { metadataThroughStatus } from './object-metadata.ts'

/** Through which part of an object somebody owns fields: the object itself (''), its status, or another view of it. */
export type OwnedPart = string

/** The managers of a request: named by its options, or by the program that sent it. */
export function managerOf(
  { userAgent, program }: RequestContext,
  { fieldManager }: RegistryWriteOptions,
  definition: ResourceDefinition,
  subresource: OwnedPart,
  operation: Manager['operation'],
): Manager {
  const name = fieldManager === '' ? (program ?? nameFromUserAgent(userAgent)) : fieldManager
  return { name, operation, apiVersion: apiVersionOf(definition), subresource }
}

/** How many programs' names are remembered, and how long what they call themselves may be: few programs make most requests. */
const rememberedProgramsMax = 256
const rememberedProgramLengthMax = 512

const programNames = new BoundedMap<string, string>(rememberedProgramsMax)

function nameFromUserAgent(userAgent: string): string {
  const known = programNames.get(userAgent)
  if (known !== undefined) return known
  const [program = ''] = userAgent.split('/', 1)
  const name = managerNameOf(program)
  if (userAgent.length <= rememberedProgramLengthMax) programNames.set(userAgent, name)
  return name
}

function managerNameOf(program: string): string {
  let name = ''
  for (const character of program) {
    if (!isPrintable(character)) continue
    if (Buffer.byteLength(name + character) > fieldManagerLengthMax) break
    name += character
  }
  return name === '' ? unknownManager : name
}

/** The fields of a version that a write through a part of an object does not change, so that nobody owns them through it. */
export function ignoredFields(
  schema: Schema | undefined,
  { hasStatus }: ResourceDefinition,
  { statusKeeps = [], resetFields = {} }: Pick<KindRules, 'statusKeeps' | 'resetFields'>,
  part: OwnedPart,
): FieldSet {
  const own = resetFields[part]
  if (own !== undefined) return own
  if (part === '') return hasStatus ? statusOnly : noFields
  if (part !== 'status' || schema?.type !== 'object') return noFields
  // A custom kind may have a spec that its schema does not speak of.
  if (schema.dialect === 'structural')
    return { ...fieldSet(desired(schema)), 'f:metadata': noFields, 'f:spec': noFields }
  if (statusKeeps === 'metadata') return { ...fieldSet(desired(schema)), 'f:metadata': noFields }
  const metadata: FieldSet = statusKeeps.length === 0 ? noFields : { 'f:metadata': fieldSet(statusKeeps) }
  return { ...fieldSet(desired(schema)), ...metadata }
}

/** The fields of an object beside its type, its metadata and its status. */
const desired = ({ fields }: ObjectSchema): readonly string[] =>
  Object.keys(fields).filter((name) => !['apiVersion', 'kind', 'metadata', 'status'].includes(name))

const fieldSet = (names: readonly string[]): FieldSet =>
  Object.fromEntries(names.map((name) => [`f:${name}`, noFields]))

const statusOnly: FieldSet = { 'f:status': noFields }

/** A change of an object as it is seen in the version of the request. */
export interface RequestedChange {
  readonly before: KubernetesObject
  readonly after: KubernetesObject
}

/** A write whose changes are to be recorded. */
export interface OwningWrite {
  readonly kind: StoredKind
  /** The version of the request, in which the object is seen here. */
  readonly definition: ResourceDefinition
  /** The managedFields that the request itself has. */
  readonly given: ObjectMeta['managedFields']
  readonly manager: Manager
  readonly nowMs: number
  /** Large objects have one: others are served while their owners are found. */
  readonly pause?: Pause | undefined
}

/** The owners of a new object. */
export function ownersOfNew(object: KubernetesObject, write: OwningWrite): FieldOwners | Promise<FieldOwners> {
  const { definition, given } = write
  const owners = given === undefined ? noOwners : (ownersOf(given) ?? noOwners)
  const before = emptyObjectOf(definition.schema) as KubernetesObject
  const made = undeleted(object)
  const after = definition.hasStatus ? withMember(made, 'status', before) : made
  return record({ before, after }, owners, write)
}

/** A new object as upstream sees it: it cannot be one that is being deleted (WipeObjectMetaSystemFields). */
function undeleted(object: KubernetesObject): KubernetesObject {
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata
  if (deletionTimestamp === undefined && deletionGracePeriodSeconds === undefined) return object
  const { deletionTimestamp: _time, deletionGracePeriodSeconds: _seconds, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** One list for all, so that what follows from it is computed once. */
const noOwners: FieldOwners = []

/** The owners of a changed object, which had the owners `live` before. */
export function ownersOfChanged(
  { before, after }: RequestedChange,
  live: FieldOwners,
  write: OwningWrite,
): FieldOwners | Promise<FieldOwners> {
  const { kind, definition, given, manager } = write
  const owners = manager.subresource === '' && given !== undefined ? requestedOwners(live, given) : live
  // An object that was created without owners has none until somebody applies to it.
  if (owners.length === 0) return owners
  return record({ before, after: withoutIgnored(definition, kind.rules, before, after, manager) }, owners, write)
}

/** The object with what a write through the manager's part may not change as it was before. */
function withoutIgnored(
  { schema, hasStatus }: ResourceDefinition,
  { statusKeeps = [] }: Pick<KindRules, 'statusKeeps'>,
  before: KubernetesObject,
  after: KubernetesObject,
  { subresource }: Manager,
): KubernetesObject {
  if (before === after) return after
  if (subresource === '') return hasStatus ? withMember(after, 'status', before) : after
  if (subresource !== 'status') return after
  const keeps = schema.dialect === 'structural' ? 'metadata' : statusKeeps
  return withMember(
    { ...before, metadata: metadataThroughStatus(before.metadata, after.metadata, keeps) },
    'status',
    schema.fields.status === undefined ? before : after,
  )
}

function withMember(object: KubernetesObject, name: string, other: KubernetesObject): KubernetesObject {
  const own = (object as unknown as Record<string, unknown>)[name]
  const wanted = (other as unknown as Record<string, unknown>)[name]
  if (own === wanted) return object
  if (wanted !== undefined) return { ...object, [name]: wanted }
  const { [name]: _own, ...rest } = object as unknown as Record<string, unknown>
  return rest as unknown as KubernetesObject
}

function record(
  change: RequestedChange,
  owners: FieldOwners,
  { kind, manager, nowMs, pause }: OwningWrite,
): FieldOwners | Promise<FieldOwners> {
  const time = formatTime(nowMs)
  const reset = kind.rules.resetFields?.[manager.subresource]
  const ignored = reset && (() => reset)
  // As upstream: a write does not fail because its owners cannot be found, where versions cannot be converted or elements have no keys.
  try {
    const recorded = withConversions(kind, (versions) => {
      const owned = { ...change, owners, manager, versions, ignored }
      return pause === undefined ? recordUpdate(owned, time) : withRests(updateRecording(owned, time), pause)
    })
    return recorded instanceof Promise ? recorded.catch(() => owners) : recorded
  } catch (error) {
    if (error instanceof UnidentifiedElementError) return owners
    throw error
  }
}

/** What the managedFields of a request make of the owners there are: they are taken, unless they make no sense. */
function requestedOwners(live: FieldOwners, given: NonNullable<ObjectMeta['managedFields']>): FieldOwners {
  if (resetsOwners(given)) return []
  if (deepEqual(given, managedFieldsOf(live))) return live
  const owners = ownersOf(given)
  return owners === undefined || owners.length === 0 ? live : owners
}

/** What is wrong with owners of fields, where a client has said who they are: those that the server finds have good names. */
export const ownersErrors = (owners: FieldOwners, given: ObjectMeta['managedFields']): readonly FieldError[] =>
  given === undefined ? [] : managedFieldsErrors(managedFieldsOf(owners))

/** An object and the managedFields that a client wrote into it. */
export function takeManagedFields<T extends KubernetesObject>(
  object: T,
): { readonly object: T; readonly managedFields: ObjectMeta['managedFields'] } {
  if (object.metadata.managedFields === undefined) return { object, managedFields: undefined }
  const { managedFields, ...metadata } = object.metadata
  return { object: { ...object, metadata }, managedFields }
}

/** Whether a patch may read or change managedFields. */
export function concernsManagedFields(patch: unknown): boolean {
  if (Array.isArray(patch))
    return patch.some((operation) => isJsonObject(operation) && pointsAtManagedFields(operation))
  return isJsonObject(patch) && isJsonObject(patch.metadata) && 'managedFields' in patch.metadata
}

const pointsAtManagedFields = ({ path, from }: Readonly<Record<string, unknown>>): boolean =>
  [path, from].some((pointer) => typeof pointer === 'string' && /^(\/metadata(\/managedFields.*)?)?$/.test(pointer))
