import {
  ApiError,
  apiVersionOf,
  badRequest,
  compile,
  hasDuplicateElements,
  hasReason,
  isJsonObject,
  type KubernetesObject,
  lastAppliedAnnotation,
  type ObjectMeta,
  type ResourceDefinition,
  typedProblems,
  UnidentifiedElementError,
} from '@coracle/api'
import type { RegistryWriteOptions } from '../registry-contract.ts'

/**
 * A configuration that is applied: a part of an object, in the form that decoding gives, without defaults. Zero values are in it,
 * those too that the object will not show: whoever applies one owns the field.
 */
export interface Configuration {
  readonly object: KubernetesObject
  readonly warnings: readonly string[]
  /** How many values were decoded. */
  readonly valuesCount: number
}

/** What reading a configuration asks of a kind. */
type ConfiguredKind = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'schema'>

/** Reads the body of an apply. Throws upstream's errors where it is no configuration of the kind. */
export function readConfiguration(
  definition: ConfiguredKind,
  body: unknown,
  { fieldValidation }: RegistryWriteOptions,
): Configuration {
  if (body === null) throw badRequest(`invalid object type: ${typeText('', '')}`)
  if (!isJsonObject(body)) throw badRequest(`error decoding YAML: ${noObject(body)}`)
  const [apiVersion, kind] = typeOf(body)
  const { version } = definition
  if (apiVersion !== apiVersionOf(definition) || kind !== definition.kind) {
    throw badRequest(`invalid object type: ${typeText(apiVersion, kind)}`)
  }
  const metadata = isJsonObject(body.metadata) ? body.metadata : {}
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil')
  }
  const type = typeText(apiVersion, kind)
  const what = `${textIn(metadata, 'namespace')}/${textIn(metadata, 'name')}; ${type}`
  const refuse = (why: string) => new ApiError(500, '', `failed to create typed patch object (${what}): ${why}`)
  const isCustom = definition.schema.dialect === 'structural'
  const options = {
    kind,
    version,
    fieldValidation: isCustom ? fieldValidation : 'Warn',
    keepsZeros: true,
    keepsNulls: true,
  } as const
  const problems = isCustom ? typedProblems(definition.schema, body) : undefined
  if (problems !== undefined) throw refuse(problems)
  try {
    const { value, warnings, valuesCount } = compile(definition.schema).decode(body, options)
    // Nobody could own what the schema does not have: for built-in kinds that is an error, whatever the request says.
    if (!isCustom && warnings.length > 0) throw refuse(typedProblems(definition.schema, body) ?? warnings.join(', '))
    if (hasDuplicateElements(definition.schema, value)) {
      throw refuse(typedProblems(definition.schema, body) ?? 'duplicate entries for key of a list')
    }
    // A configuration may say null there, as anywhere.
    const given = value.metadata as ObjectMeta | null | undefined
    return { object: { ...value, metadata: given ?? {} }, warnings, valuesCount }
  } catch (error) {
    if (error instanceof UnidentifiedElementError) throw refuse(typedProblems(definition.schema, body) ?? error.message)
    if (isCustom || !hasReason(error, 'BadRequest')) throw error
    const problem = typedProblems(definition.schema, body)
    if (problem !== undefined) throw refuse(problem)
    // Its fields can be owned, and it still makes no object: a text that is no time, say.
    const why = error.message.replace(/^.* cannot be handled as a \w+: /, '')
    const conversion = `to proper version: unable to convert unstructured object to ${type}`
    throw new ApiError(500, '', `failed to convert new object (${what}) ${conversion}: ${why}`)
  }
}

/** A text of an object of JSON; '' where there is none, or something else. */
function textIn(object: Readonly<Record<string, unknown>>, field: string): string {
  const found = object[field]
  return typeof found === 'string' ? found : ''
}

/** The version and the kind that a configuration names: '' where it names none, or says something else there. */
function typeOf(body: Readonly<Record<string, unknown>>): readonly [apiVersion: string, kind: string] {
  const apiVersion = textIn(body, 'apiVersion')
  // What is no version of a group leaves nothing of both.
  return apiVersion.split('/').length > 2 ? ['', ''] : [apiVersion, textIn(body, 'kind')]
}

function typeText(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') || apiVersion === '' ? apiVersion || '/' : `/${apiVersion}`}, Kind=${kind}`
}

function noObject(body: unknown): string {
  const type = Array.isArray(body) ? 'array' : body === null ? 'null' : typeof body
  return `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`
}

/**
 * The object with the configuration where client-side apply keeps the one applied last: a client that goes back to it finds
 * what it would have written itself.
 */
export function withLastApplied(object: unknown, configuration: KubernetesObject): KubernetesObject {
  const whole = object as KubernetesObject
  const { annotations } = configuration.metadata
  const { [lastAppliedAnnotation]: _last, ...kept } = annotations ?? {}
  const metadata =
    (annotations ?? undefined) === undefined ? configuration.metadata : { ...configuration.metadata, annotations: kept }
  const text = `${goJson({ ...configuration, metadata })}\n`
  const all = { ...whole.metadata.annotations, [lastAppliedAnnotation]: text }
  return { ...whole, metadata: { ...whole.metadata, annotations: all } }
}

/** JSON as Go writes a map: keys in order, and no character that HTML has a use for. */
function goJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    isJsonObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  ).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
