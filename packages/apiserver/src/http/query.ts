import {
  badRequest,
  checkFieldManager,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalid,
  isTrue,
  type Preconditions,
  parseDurationNanos,
  parseFieldSelector,
  parseLabelSelector,
  requiredField,
  unsupportedField,
  type DeleteOptions as WireDeleteOptions,
} from '@coracle/api'
import { int64Of } from '@coracle/api/go-text'
import type { DeleteOptions, ListOptions, WatchOptions } from '@coracle/client'
import { durationProblem } from '@coracle/environment'
import type { RegistryWriteOptions } from '../registry-contract.ts'

const none = new URLSearchParams()

/** The query of a request; `search` is what follows the `?`. */
export function parseQuery(search: string): URLSearchParams {
  return search === '' ? none : new URLSearchParams(search)
}

/**
 * How long a client gives its request, by `timeout=1m30s`; undefined where it does not say, or zero. Throws a BadRequest for what is no
 * duration.
 */
export function timeoutMsOf(query: URLSearchParams): number | undefined {
  const text = query.get('timeout') ?? ''
  if (text === '') return undefined
  const nanos = parseDurationNanos(text)
  if (nanos === undefined) {
    throw badRequest(`invalid timeout specified in the request URL - ${durationProblem(text)}`)
  }
  return nanos <= 0n ? undefined : Math.ceil(Number(nanos) / 1e6)
}

/** Whether the query makes a read of a collection a watch: anything but `false` and `0`, as upstream has it. */
export const asksToWatch = (query: URLSearchParams): boolean => readBoolean(query, 'watch')

/** Throws a BadRequest where an object is asked for in the form that Kubernetes 1.18 and before exported. */
export function refuseExport(query: URLSearchParams): void {
  if (query.size > 0 && (query.get('export') ?? '') !== '' && readBoolean(query, 'export'))
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
}

/**
 * Options of a list, checked as upstream does: 400 for values that cannot be read, 422 for those that make no sense.
 * An empty namespace means all of them.
 */
export function listOptionsOf(query: URLSearchParams, namespace: string): ListOptions {
  if (query.size === 0) return namespace === '' ? {} : { namespace }
  readInteger(query, 'timeoutSeconds')
  const limit = readInteger(query, 'limit')
  const resourceVersionMatch = query.get('resourceVersionMatch') ?? ''
  // Only the deletion of a collection comes here with `watch`: it is checked as a watch, and carried out as ever.
  refuseInvalidList(query, asksToWatch(query) ? watchErrors(query) : listErrors(resourceVersionMatch, query))
  return {
    ...(namespace === '' ? {} : { namespace }),
    ...texts(query, ['labelSelector', 'fieldSelector', 'continue', 'resourceVersion'] as const),
    ...(limit === undefined || limit <= 0 ? {} : { limit }),
    ...(resourceVersionMatch === 'Exact' || resourceVersionMatch === 'NotOlderThan' ? { resourceVersionMatch } : {}),
  }
}

function listErrors(match: string, query: URLSearchParams): readonly FieldError[] {
  const errors = match === '' ? [] : [...listMatchErrors(match, query)]
  if (query.has('sendInitialEvents')) {
    errors.push(forbiddenField(FieldPath.of('sendInitialEvents'), 'sendInitialEvents is forbidden for list'))
  }
  return errors
}

function listMatchErrors(match: string, query: URLSearchParams): readonly FieldError[] {
  const path = FieldPath.of('resourceVersionMatch')
  const errors: FieldError[] = []
  const resourceVersion = query.get('resourceVersion') ?? ''
  if (resourceVersion === '') {
    errors.push(forbiddenField(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
  }
  if ((query.get('continue') ?? '') !== '') {
    errors.push(forbiddenField(path, 'resourceVersionMatch is forbidden when continue is provided'))
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(unsupportedField(path, match, ['Exact', 'NotOlderThan', '']))
  }
  if (match === 'Exact' && resourceVersion === '0') {
    errors.push(forbiddenField(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  return errors
}

/** Options of a watch, checked as upstream does. */
export function watchOptionsOf(query: URLSearchParams, namespace: string): WatchOptions {
  const timeoutSeconds = readInteger(query, 'timeoutSeconds')
  readInteger(query, 'limit')
  refuseInvalidList(query, watchErrors(query))
  const sendsInitialEvents = query.has('sendInitialEvents')
  return {
    ...(namespace === '' ? {} : { namespace }),
    ...texts(query, ['labelSelector', 'fieldSelector', 'resourceVersion'] as const),
    ...(readBoolean(query, 'allowWatchBookmarks') ? { allowWatchBookmarks: true } : {}),
    ...(sendsInitialEvents ? { sendInitialEvents: readBoolean(query, 'sendInitialEvents') } : {}),
    // Where the time is over before it begins the watch ends at once; 0 leaves it to the server.
    ...(timeoutSeconds === undefined || timeoutSeconds === 0 ? {} : { timeoutSeconds: Math.max(timeoutSeconds, 0) }),
  }
}

/**
 * What is wrong with the options of a watch. One from no version or from 0 that says nothing of initial events gets them as of any
 * version (SetListOptionsDefaults): that is then what does not go with `continue`.
 */
function watchErrors(query: URLSearchParams): readonly FieldError[] {
  const given = query.get('resourceVersionMatch') ?? ''
  const hasDefaults =
    given === '' && !query.has('sendInitialEvents') && ['', '0'].includes(query.get('resourceVersion') ?? '')
  const match = hasDefaults ? 'NotOlderThan' : given
  const sendsInitialEvents = hasDefaults || query.has('sendInitialEvents')
  const path = FieldPath.of('resourceVersionMatch')
  const errors: FieldError[] = []
  if (sendsInitialEvents && match !== 'NotOlderThan') {
    errors.push(forbiddenField(path, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  }
  if (match === '') return errors
  if (!sendsInitialEvents) {
    errors.push(
      forbiddenField(path, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    )
  }
  if (match !== 'NotOlderThan') errors.push(unsupportedField(path, match, ['NotOlderThan']))
  if ((query.get('continue') ?? '') !== '') {
    errors.push(forbiddenField(path, 'resourceVersionMatch is forbidden when continue is provided'))
  }
  return errors
}

const defaultWriteOptions: RegistryWriteOptions = { dryRun: false, fieldManager: '', fieldValidation: 'Warn' }

/** Options of a create, update or patch; `kind` names them in errors (`CreateOptions`). An apply names its manager, and may be forced. */
export function writeOptionsOf(
  query: URLSearchParams,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  applies = false,
): RegistryWriteOptions {
  if (query.size === 0 && !applies) return defaultWriteOptions
  const errors: FieldError[] = []
  const fieldManager = query.get('fieldManager') ?? ''
  if (applies && fieldManager === '') {
    errors.push(requiredField(FieldPath.of('fieldManager'), 'is required for apply patch'))
  }
  if (kind === 'PatchOptions' && !applies && query.has('force')) {
    errors.push(forbiddenField(FieldPath.of('force'), 'may not be specified for non-apply patch'))
  }
  errors.push(...checkFieldManager(fieldManager, FieldPath.of('fieldManager')))
  const dryRun = query.getAll('dryRun')
  errors.push(...dryRunErrors(dryRun))
  const fieldValidation = query.get('fieldValidation') || 'Warn'
  if (fieldValidation !== 'Ignore' && fieldValidation !== 'Warn' && fieldValidation !== 'Strict') {
    errors.push(unsupportedField(FieldPath.of('fieldValidation'), fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
    throw invalidOptions(kind, errors)
  }
  refuseInvalid(kind, errors)
  const force = applies && readBoolean(query, 'force')
  return { dryRun: dryRun.length > 0, fieldManager, fieldValidation, ...(force ? { force } : {}) }
}

function dryRunErrors(values: readonly unknown[]): readonly FieldError[] {
  return values.every((value) => value === 'All') ? [] : [unsupportedField(FieldPath.of('dryRun'), values, ['All'])]
}

const policies = ['Foreground', 'Background', 'Orphan'] as const

/**
 * Options of a delete. A body (a DeleteOptions object, already parsed) counts alone; without one the query does.
 * `orphanDependents`, the older way to say it, becomes the propagation policy it stands for.
 */
export function deleteOptionsOf(query: URLSearchParams, body: RawDeleteOptions | undefined): DeleteOptions {
  const raw = body ?? deleteQuery(query)
  const errors: FieldError[] = []
  const { propagationPolicy: policy, orphanDependents } = raw
  const path = FieldPath.of('propagationPolicy')
  if (orphanDependents !== undefined && policy !== undefined) {
    errors.push(forbidBoth(path, policy))
  }
  const known = policies.find((each) => each === policy)
  if (policy !== undefined && known === undefined) {
    errors.push(unsupportedField(path, policy, [...policies, 'nil']))
  }
  const dryRun = raw.dryRun ?? []
  errors.push(...dryRunErrors(dryRun))
  refuseInvalid('DeleteOptions', errors)

  const propagationPolicy =
    known ?? (orphanDependents === true ? 'Orphan' : orphanDependents === false ? 'Background' : undefined)
  return {
    ...(raw.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: raw.gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(raw.preconditions === undefined ? {} : { preconditions: preconditionsOf(raw.preconditions) }),
    ...(dryRun.length > 0 ? { dryRun: true } : {}),
  }
}

/** DeleteOptions as it comes over the wire, once its fields are of the right types. */
export type RawDeleteOptions = Pick<
  WireDeleteOptions,
  'gracePeriodSeconds' | 'propagationPolicy' | 'orphanDependents' | 'preconditions' | 'dryRun'
>

const preconditionsOf = ({ uid, resourceVersion }: Preconditions) => ({
  ...(uid === undefined ? {} : { uid }),
  ...(resourceVersion === undefined ? {} : { resourceVersion }),
})

const forbidBoth = (path: FieldPath, policy: string): FieldError => ({
  type: 'FieldValueInvalid',
  field: path.toString(),
  message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
})

function deleteQuery(query: URLSearchParams): RawDeleteOptions {
  if (query.size === 0) return {}
  const gracePeriodSeconds = readInteger(query, 'gracePeriodSeconds')
  const propagationPolicy = query.get('propagationPolicy')
  const preconditions = texts(query, ['uid', 'resourceVersion'])
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === null ? {} : { propagationPolicy }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(query.has('orphanDependents') ? { orphanDependents: readBoolean(query, 'orphanDependents') } : {}),
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
  }
}

/** Those of the parameters that are there and not empty. */
function texts<const Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): { readonly [Key in Name]?: string } {
  const found: { [Key in Name]?: string } = {}
  for (const name of names) {
    const value = query.get(name)
    if (value !== null && value !== '') found[name] = value
  }
  return found
}

export const readBoolean = (query: URLSearchParams, name: string): boolean => isTrue(query.get(name))

/** Throws a BadRequest for what is no whole number, or none that an int64 holds. One that no number holds exactly is the largest that one does. */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = Number(text)
  if (Number.isSafeInteger(value)) return value
  if (int64Of(text) === undefined) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  }
  return value > 0 ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER
}

/** Throws a BadRequest where the selectors of a query cannot be read, for what would be told of later than they. */
export function checkSelectors(query: URLSearchParams): void {
  parseLabelSelector(query.get('labelSelector') ?? '')
  parseFieldSelector(query.get('fieldSelector') ?? '')
}

function refuseInvalidList(query: URLSearchParams, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  checkSelectors(query)
  throw invalidOptions('ListOptions', errors)
}

function refuseInvalid(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidOptions(kind, errors)
}

const invalidOptions = (kind: string, errors: readonly FieldError[]) =>
  invalid({ group: 'meta.k8s.io', kind }, '', errors)
