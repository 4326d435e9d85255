import {
  type ApiError,
  addErrors,
  apiVersionOf,
  compile,
  describeFieldError,
  type FieldError,
  FieldPath,
  inCheckedOrder,
  invalid,
  type KubernetesObject,
  loadStructForms,
  type ObjectSchema,
  type StoredKind,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Stored } from '../registry-contract.ts'
import type { ChangedPart } from './changed-part.ts'
import { inPieces, type Pause } from './large-objects.ts'
import { statusOf } from './preparation.ts'
import { newErrors, ratchetedErrorsMax } from './ratcheting.ts'
import type { RegistryParts } from './registry-parts.ts'
import { sharingWith, specOf } from './structure-sharing.ts'

/**
 * Throws Invalid (422), naming every field that is wrong, unless the object may be created through the version requested. `outside` is what
 * others than the object have against it.
 */
export async function checkCreate(
  parts: RegistryParts,
  object: KubernetesObject,
  outside: readonly FieldError[],
  pause: Pause | undefined,
): Promise<void> {
  const form = judgedForm(parts, object, undefined)
  const { kind, requested, judged } = form instanceof Promise ? await form : form
  const { strategy } = kind
  const checked = parts.storage.lastCreated
  const errors = [...validateObjectMeta(object.metadata, kind, undefined, checked?.metadata)]
  if (pause !== undefined) await pause()
  const options = { known: errors, old: checkedPart(judged, checked) }
  const validating = inPieces(parts.turns, () => compile(judged.schema).validate(judged.object, options))
  const bySchema = [
    ...(validating instanceof Promise ? await validating : validating),
    ...(kind.custom?.scaleErrors[requested]?.(judged.object, 'whole') ?? []),
  ]
  if (pause !== undefined) await pause()
  const judging = inPieces(parts.turns, () => strategy.validate?.(object, requested) ?? [])
  const byRules = judging instanceof Promise ? await judging : judging
  const onlyNow = strategy.validateCreate?.(object, requested) ?? []
  addErrors(errors, outside)
  addErrors(errors, inCheckedOrder(judged.schema, bySchema, byRules, onlyNow))
  if (errors.length > 0) throw await refusal(parts.environment.clock, kind, object, errors)
}

/** Invalid (422), with values as upstream shows them. */
export async function refusal(
  clock: Clock,
  kind: StoredKind,
  { metadata }: KubernetesObject,
  errors: readonly FieldError[],
): Promise<ApiError> {
  // Time stands still meanwhile where it is virtual.
  await clock.hold(loadStructForms())
  return invalid(kind, metadata.name ?? '', errors)
}

/** What a new object shares with one of which its schema was found to have nothing against it: the desired state of one template. */
function checkedPart({ schema, object }: Judged, checked: KubernetesObject | undefined): KubernetesObject | undefined {
  const spec = specOf(object)
  if (spec === undefined || spec !== specOf(checked)) return undefined
  // A rule for the whole object would take it for what the object was.
  const hasRules = schema.dialect === 'structural' || schema.rules !== undefined
  return hasRules ? undefined : ({ spec } as unknown as KubernetesObject)
}

/** An object that is to be replaced: as it is stored, and in the hub's form. */
export interface Replaced {
  readonly stored: Stored
  readonly object: KubernetesObject
}

/**
 * Throws Invalid (422), naming every field that is wrong, unless the object may replace the old one, through the version requested.
 * Returns warnings of what is wrong and was so before. `outside` is what others than the object have against it.
 */
export async function checkUpdate(
  parts: RegistryParts,
  object: KubernetesObject,
  replaced: Replaced,
  rules: ChangedPart['rules'],
  outside: readonly FieldError[],
  pause: Pause | undefined,
): Promise<readonly string[]> {
  if (rules === 'own') return []
  const { object: old } = replaced
  const form = judgedForm(parts, object, replaced)
  const { kind, requested, judged } = form instanceof Promise ? await form : form
  const { strategy } = kind
  const errors = [...validateObjectMetaUpdate(object.metadata, old.metadata)]
  if (pause !== undefined) await pause()
  if (rules === 'status') {
    addErrors(errors, outside)
    const judging = inPieces(parts.turns, () => statusErrors(kind, requested, judged))
    addErrors(errors, judging instanceof Promise ? await judging : judging)
  } else {
    const options = { old: judged.old, known: errors }
    const validating = inPieces(parts.turns, () => compile(judged.schema).validate(judged.object, options))
    const bySchema = [
      ...(validating instanceof Promise ? await validating : validating),
      ...(kind.custom?.scaleErrors[requested]?.(judged.object, 'whole') ?? []),
    ]
    if (pause !== undefined) await pause()
    const { validate } = strategy
    const judge = (each: KubernetesObject) => inPieces(parts.turns, () => validate?.(each, requested) ?? [])
    const judging = judge(object)
    const found = judging instanceof Promise ? await judging : judging
    const before = found.length === 0 || found.length > ratchetedErrorsMax ? [] : await judge(old)
    const byRules = newErrors(found, () => before)
    addErrors(errors, outside)
    addErrors(errors, inCheckedOrder(judged.schema, bySchema, byRules))
    addErrors(errors, strategy.validateUpdate?.(object, old, requested) ?? [])
  }
  const intolerable = errors.filter(({ isTolerated }) => isTolerated !== true)
  if (intolerable.length > 0) throw await refusal(parts.environment.clock, kind, object, intolerable)
  return errors.map(describeFieldError)
}

/** What a schema is held against. */
interface Judged {
  readonly schema: ObjectSchema
  readonly object: KubernetesObject
  readonly old: KubernetesObject | undefined
}

/**
 * Versions of a custom kind have a schema each, and a write is held to that of the version it is made through, whatever the
 * object is stored in. Those of a built-in kind have the same rules, which know the hub's form.
 */
function judgedForm(
  parts: RegistryParts,
  object: KubernetesObject,
  replaced: Replaced | undefined,
): JudgedForm | Promise<JudgedForm> {
  const { kind } = parts.storage
  const requested = apiVersionOf(parts.view.definition)
  return kind.custom === undefined || requested === apiVersionOf(kind)
    ? { kind, requested, judged: { schema: kind.schema, object, old: replaced?.object } }
    : convertedForm(parts, requested, object, replaced)
}

interface JudgedForm {
  readonly kind: StoredKind
  /** The version of the request. */
  readonly requested: string
  readonly judged: Judged
}

async function convertedForm(
  { storage: { kind }, view }: RegistryParts,
  requested: string,
  object: KubernetesObject,
  replaced: Replaced | undefined,
): Promise<JudgedForm> {
  const { definition } = view
  const own = await view.fromHub(object)
  const old = replaced === undefined ? undefined : (await view.show(replaced.stored)).object
  // What is as it was is known by its reference.
  const shared = old === undefined ? own : sharingWith(old, own)
  return { kind, requested, judged: { schema: definition.schema, object: shared, old } }
}

/**
 * Only the status is checked: all else has been, when it was written. Rules of a custom kind look at the whole object, and
 * its validation passes over what has not changed.
 */
function statusErrors(
  { strategy, custom }: StoredKind,
  requested: string,
  { schema, object, old }: Judged,
): readonly FieldError[] {
  if (old === undefined || schema.dialect === 'structural') {
    return [
      ...compile(schema).validate(object, { old }).map(ofStatusItself),
      ...(custom?.scaleErrors[requested]?.(object, 'status') ?? []),
    ]
  }
  const status = schema.fields.status?.schema
  const value = statusOf(object)
  const options = { path: FieldPath.of('status'), old: statusOf(old) }
  return [
    ...(status === undefined || value === undefined ? [] : compile(status).validate(value, options)),
    ...(strategy.validateStatusUpdate?.(object, old) ?? []),
  ]
}

/** As upstream has it the status of a custom resource is held against its schema by itself: texts name what is in it from there. */
function ofStatusItself(error: FieldError): FieldError {
  const { type, field, message } = error
  const quoted = /^(Invalid value: "": )"status\.?([^"]*)"( must (?:not )?validate )/
  if (field === '<nil>') {
    const own = message
      .replace(quoted, '$1"$2"$3')
      .replace(/(Checked|MultipleOf|Minimum boundary|Maximum boundary) (value must be .* in )status\.?/, '$1 $2')
    return own === message ? error : { type, field: 'status', message: own }
  }
  const own = message.replace(` ${field} in body `, ` ${field.replace(/^status\.?/, '')} in body `)
  return own === message || !/^status\b/.test(field) ? error : { type, field, message: own }
}
