import {
  type ApiError,
  apiVersionOf,
  badRequest,
  compile,
  FieldPath,
  type FieldValidation,
  type GoTypes,
  invalid,
  invalidField,
  jsonTypeOf,
  type KubernetesObject,
  type ResourceDefinition,
} from '@coracle/api'
import { type HeldClock, inGoTypes } from '../go-types.ts'
import { completeSpecOf, rememberGiven, withSpec } from './complete-specs.ts'
import { notRegistered } from './schemes.ts'

/** A body as an object of the kind, with the schema's and the kind's defaults. */
export interface DecodedBody {
  readonly object: KubernetesObject
  /** Unknown fields, where the request wants to hear of them. */
  readonly warnings: readonly string[]
  /** How many values were decoded. */
  readonly valuesCount: number
  /** What to refuse the object with when it is checked: it is of another kind than its path, which of custom kinds is told no sooner. */
  readonly wrongKind?: ApiError | undefined
}

/** What decoding asks of a kind: one that is only exchanged has no more. */
export type DecodedKind = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'schema' | 'applyDefaults'>

/** Whether a kind is served at all: decides between two wordings of the same refusal. */
export type KnowsKind = (apiVersion: string, kind: string) => boolean

/** How a body is decoded. */
export interface BodyDecoding {
  readonly clock: HeldClock
  readonly definition: DecodedKind
  readonly fieldValidation: FieldValidation
  /** By default no other kind is known. */
  readonly knowsKind?: KnowsKind
  /** An object that was decoded before: values that the body shares with it are not decoded again. */
  readonly known?: KubernetesObject | undefined
  /** Nulls stay: in a configuration that is applied they mean something. */
  readonly keepsNulls?: boolean
}

/** Decodes a request's body. Throws, or rejects with, a BadRequest in upstream's words where it is no object of the kind. */
export function decodeBody(body: unknown, decoding: BodyDecoding): DecodedBody | Promise<DecodedBody> {
  return inGoTypes((goTypes) => decodeIn(goTypes, body, decoding), decoding.clock)
}

const knowsNoKind: KnowsKind = () => false

function decodeIn(goTypes: GoTypes | undefined, body: unknown, decoding: BodyDecoding): DecodedBody {
  const { definition, fieldValidation, knowsKind = knowsNoKind, known, keepsNulls = false } = decoding
  const { kind, version, schema } = definition
  const { typed, wrongKind } = withType(definition, body, knowsKind)
  const compiled = compile(schema)
  const before = known === undefined ? completeSpecOf(schema, typed) : undefined
  const shared = known ?? (before && { spec: before.spec })
  const { value, warnings, valuesCount } = compiled.decode(
    before === undefined ? typed : withSpec(typed, before.spec),
    { fieldValidation, kind, version, keepsNulls, goTypes, known: shared },
  )
  // Clients may leave metadata out; from here on it is there.
  const complete = value.metadata === undefined ? { ...value, metadata: {} } : value
  // What is shared with an object that was decoded before has its defaults.
  const defaulted = compiled.applyDefaults(complete, before ?? known)
  // A spec with unknown fields is not remembered, so that it is decoded, and warned of, each time.
  if (known === undefined && before === undefined && fieldValidation !== 'Ignore' && warnings.length === 0)
    rememberGiven(schema, typed, defaulted, valuesCount)
  return {
    object: definition.applyDefaults?.(defaulted, known) ?? defaulted,
    warnings,
    valuesCount: valuesCount + (before?.valuesCount ?? 0),
    wrongKind,
  }
}

/** The body with the `kind` and `apiVersion` of the path, which it may leave out but not contradict. */
function withType(
  definition: DecodedKind,
  body: unknown,
  knowsKind: KnowsKind,
): { readonly typed: unknown; readonly wrongKind?: ApiError } {
  if (typeof body !== 'object' || Array.isArray(body)) throw unrecognized(definition, body)
  const expected = apiVersionOf(definition)
  // As in Go, null says nothing: it is an object without fields.
  const { apiVersion, kind } = (body ?? {}) as { readonly apiVersion?: unknown; readonly kind?: unknown }
  if (apiVersion === expected && kind === definition.kind) return { typed: body }
  // The group of `/v1` is the empty one.
  const givenVersion = isGiven(apiVersion) ? String(apiVersion).replace(/^\/(?=[^/]+$)/, '') : expected
  const givenKind = isGiven(kind) ? String(kind) : definition.kind
  const typed = { ...body, apiVersion: expected, kind: definition.kind }
  if (givenKind === definition.kind && givenVersion === expected) return { typed }
  const isChecked = definition.schema.dialect === 'structural' && givenVersion === expected
  if (!isChecked) throw mismatch(definition, givenVersion, givenKind, knowsKind)
  const error = invalidField(FieldPath.of('kind'), givenKind, `must be ${definition.kind}`)
  return { typed, wrongKind: invalid({ kind: givenKind, group: definition.group }, nameIn(body), [error]) }
}

/** The name that an object gives itself; '' where it gives none. */
function nameIn(body: object | null): string {
  const { metadata } = (body ?? {}) as { readonly metadata?: { readonly name?: unknown } | null }
  return typeof metadata?.name === 'string' ? metadata.name : ''
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

function mismatch(definition: DecodedKind, apiVersion: string, kind: string, knowsKind: KnowsKind): Error {
  const expected = apiVersionOf(definition)
  const known = knowsKind(apiVersion, kind)
  if (known && kind === definition.kind) {
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    )
  }
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const group = definition.group === '' ? 'core' : (definition.group.split('.')[0] ?? '')
  const why = known
    ? `converting (${version}.${kind}) to (${group}.${definition.kind}): unknown conversion`
    : notRegistered(apiVersion, kind, definition.group)
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${definition.kind}: ${why}`)
}

/** How many bytes of a body that is no object its refusal shows. */
const shownBytesMax = 30

function unrecognized(definition: DecodedKind, body: unknown): Error {
  const bytes = Buffer.from(JSON.stringify(body) ?? '')
  const shown = bytes.subarray(0, shownBytesMax).toString('hex') + (bytes.length > shownBytesMax ? ' ...' : '')
  const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeOf(body)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`
  return badRequest(`the object provided is unrecognized (must be of type ${definition.kind}): ${why} (${shown})`)
}
