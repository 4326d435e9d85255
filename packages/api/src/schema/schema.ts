/**
 * The schema language: one data structure that describes every kind, built-in or custom.
 *
 * Built-in kinds write it with the builders of `builders.ts`, custom ones come from OpenAPI. Whatever interprets a
 * schema (decoding, pruning, defaults, validation, patches, OpenAPI, fuzzing) reads nothing but this, so a custom
 * resource takes exactly the path a Pod takes.
 */
import type { FieldError } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'

/** Carries the static type of a schema. Never present at run time. */
declare const staticType: unique symbol

/** What a schema may say about its values beside their type. Interpreted by the structural dialect, except for `nullable`. */
interface Described<T> {
  readonly [staticType]?: T
  /** `null` is a value here instead of absence. */
  readonly nullable?: true
  /** Put in where the value is absent from its object, and for a null that may not be there. Built-in kinds have it on fields. */
  readonly default?: unknown
  /** What values must look like, in JSON Schema's vocabulary. */
  readonly checks?: ValueChecks
  /** Rules in the Common Expression Language. */
  readonly cel?: readonly CelRule[]
  /** Text and extensions that only OpenAPI shows. */
  readonly annotations?: Readonly<Record<string, unknown>>
}

/**
 * How values are read. `go` is that of built-in kinds: what is empty is absent, and a null in a list is the zero value.
 * `structural` is that of custom resources: JSON is kept as it is, null only where the schema allows it.
 */
export type Dialect = 'go' | 'structural'

export type JsonType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'

/** A regular expression in the syntax of RE2. It brings its engine, so that this package does not load one for built-in kinds. */
export interface Pattern {
  readonly source: string
  /** Whether it is found anywhere in a text, in time linear in its length. */
  matches(text: string): boolean
}

/**
 * Checks of a value in JSON Schema's vocabulary, as OpenAPI 3.0 has it: each applies to values of the JSON type it is
 * about, and holds for all others. `properties` and `items` only stand in alternatives: elsewhere the schemas of fields and
 * elements have checks of their own.
 */
export interface ValueChecks {
  /** The JSON types allowed; any, where there are none. */
  readonly types?: readonly JsonType[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: Pattern
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly allOf?: readonly ValueChecks[]
  readonly anyOf?: readonly ValueChecks[]
  readonly oneOf?: readonly ValueChecks[]
  readonly not?: ValueChecks
  readonly properties?: Readonly<Record<string, ValueChecks>>
  readonly items?: ValueChecks
}

/** Formats of strings that are checked, with upstream's wording (apimachinery's util/validation). */
export type StringFormat =
  /** A lowercase RFC 1123 label: at most 63 of `a-z0-9-`. */
  | 'dns1123-label'
  /** A lowercase RFC 1123 subdomain: labels joined by dots, at most 253. */
  | 'dns1123-subdomain'
  /** A lowercase RFC 1035 label: starts with a letter. */
  | 'dns1035-label'
  /** `[prefix/]name`, as keys of labels and annotations. */
  | 'qualified-name'
  | 'label-value'
  | 'env-var-name'
  | 'config-map-key'
  | 'ip'
  | 'absolute-path'
  | 'iana-service-name'

export interface StringSchema<T extends string = string> extends Described<T> {
  readonly type: 'string'
  readonly format?: StringFormat
  /** The only values allowed; anything else is `Unsupported value`. */
  readonly enum?: readonly T[]
  readonly minLength?: number
  readonly maxLength?: number
  /** A regular expression (ECMA 262, unanchored) the value must match. */
  readonly pattern?: string
}

export interface IntegerSchema<T extends number | bigint = number> extends Described<T> {
  readonly type: 'integer'
  readonly format: 'int32' | 'int64'
  /** What no number holds is a bigint, and not the nearest number. */
  readonly exact?: boolean
  readonly minimum?: number
  readonly maximum?: number
}

export interface NumberSchema extends Described<number> {
  readonly type: 'number'
  readonly format: 'double'
  readonly minimum?: number
  readonly maximum?: number
}

export interface BooleanSchema extends Described<boolean> {
  readonly type: 'boolean'
}

/** An integer or a string, such as a port or a percentage. */
export interface IntOrStringSchema extends Described<number | string> {
  readonly type: 'int-or-string'
}

/** An amount such as `100m` or `1Gi`. Numbers are accepted; decoding makes it canonical. */
export interface QuantitySchema extends Described<string> {
  readonly type: 'quantity'
}

/** An RFC 3339 time: whole seconds, or with `micro` six digits of them. */
export interface TimeSchema extends Described<string> {
  readonly type: 'time'
  readonly micro: boolean
}

/** Bytes in standard base64. */
export interface BytesSchema extends Described<string> {
  readonly type: 'bytes'
  /** What OpenAPI says of some of them, which are lists of bytes in Go. They have one owner in any case. */
  readonly listType?: 'atomic'
}

/** Any JSON value, kept as it is. With `object`, any JSON object. */
export interface AnySchema<T = unknown> extends Described<T> {
  readonly type: 'any'
  readonly object: boolean
  /** In custom resources: nothing is said of the value but that it may be there, so fields in it are unknown ones. */
  readonly isUndescribed?: true
  /** What objects are of this schema, or in a list that is the value, where they are told apart from others by the kind itself. */
  readonly objects?: Schema
  /** OpenAPI definition name where upstream gives one (`FieldsV1`, `RawExtension`). */
  readonly name?: string
  readonly doc?: string
}

export interface ListSchema<T = unknown> extends Described<readonly T[]> {
  readonly type: 'list'
  readonly items: Schema<T>
  /** Who owns what in it: the whole list, each value, or each element by `mapKeys`. Absent where upstream states none. */
  readonly listType?: 'atomic' | 'set' | 'map'
  /** Fields that identify an element of a `map` list. Two elements with the same are a `Duplicate value`. */
  readonly mapKeys?: readonly string[]
  /** For strategic merge patches: how a patch's list meets the object's, and by which key elements are matched. */
  readonly patchStrategy?: PatchStrategy
  readonly patchMergeKey?: string
  readonly minItems?: number
  readonly maxItems?: number
  /** Elements may share their keys as far as the list goes: the kind's own validation says what is wrong with that. */
  readonly duplicates?: 'allowed'
  /** Fields of elements that the schema does not name are kept instead of pruned. */
  readonly preserveUnknownFields?: boolean
}

export type PatchStrategy = 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys'

/** String keys to values of one schema. */
export interface MapSchema<T = unknown> extends Described<Readonly<Record<string, T>>> {
  readonly type: 'map'
  readonly values: Schema<T>
  /** What keys must look like. */
  readonly keys?: StringSchema
  readonly mapType?: 'atomic' | 'granular'
}

export interface ObjectSchema<T = unknown> extends Described<T> {
  readonly type: 'object'
  /** OpenAPI definition name, such as `io.k8s.api.core.v1.Container`. Empty for an inline object. */
  readonly name: string
  readonly doc: string
  readonly fields: Readonly<Record<string, Field>>
  readonly mapType?: 'atomic' | 'granular'
  /** The definition of that name, where this is a use of it with another map type. */
  readonly definition?: ObjectSchema
  /** What is checked beyond the single fields, in order, after them. */
  readonly rules?: readonly Rule<T>[]
  /** Sets of fields of which at most (or exactly) one may be present. */
  readonly unions?: readonly Union[]
  /**
   * Fields of which one is to be there, in the order in which they are looked for. What is wrong in any but the first that is there does
   * not matter: the kind's own validation says that it is one too many.
   */
  readonly alternatives?: readonly string[]
  /**
   * The fields in the order in which upstream's validation looks at them, where it is not that of `fields`; those that are left out come
   * after them. The empty name is the object as a whole, which comes last unless it is here.
   */
  readonly checkedOrder?: readonly string[]
  /** Fields the schema does not name are kept instead of pruned. */
  readonly preserveUnknownFields?: boolean
  /** How this object and what is in it is read; as the object around it, unless said. */
  readonly dialect?: Dialect
  /** A whole object of the API inside another: apiVersion and kind are there, and metadata is checked as any object's. */
  readonly embeddedResource?: boolean
  /** Of the metadata of such an object: what its definition says of it, which gives defaults and is held against it. */
  readonly described?: Schema
  /** Fields of such an object that it has although its schema does not describe them. */
  readonly impliedFields?: readonly string[]
}

/** Stands for a schema that is defined later: what makes recursion possible. */
export interface LazySchema<T = unknown> extends Described<T> {
  readonly type: 'lazy'
  readonly resolve: () => Schema<T>
}

export type Schema<T = unknown> = Described<T> &
  (
    | StringSchema
    | IntegerSchema
    | IntegerSchema<number | bigint>
    | NumberSchema
    | BooleanSchema
    | IntOrStringSchema
    | QuantitySchema
    | TimeSchema
    | BytesSchema
    | AnySchema
    | ListSchema
    | MapSchema
    | ObjectSchema
    | LazySchema
  )

/** A field of an object. */
export interface Field<T = unknown, Required extends boolean = boolean> {
  readonly schema: Schema<T>
  /** What `kubectl explain` says. */
  readonly doc: string
  /** Always there in a stored object: `Required value` where it is missing (or an empty string) and has no default. */
  readonly required: Required
  /** Put in where the field is absent and its object is there. */
  readonly default?: T
  /** `Invalid value: field is immutable` where an update changes it once set. */
  readonly immutable?: boolean
  /** For strategic merge patches of object fields (lists carry theirs themselves). */
  readonly patchStrategy?: PatchStrategy
  /** A warning to whoever sets it; the text says what to use instead. */
  readonly deprecated?: string
  /**
   * A struct, or a time, that upstream's Go type holds by value: it is part of an empty object already, and nobody owns it by itself.
   * JSON has a null for a time that is not set.
   */
  readonly byValue?: boolean
  /**
   * Upstream's Go type writes this list, map or pointer although there is nothing in it: JSON has a null where it is absent. What is
   * required is written in any case.
   */
  readonly alwaysWritten?: boolean
  /**
   * OpenAPI calls this optional field required, and nothing demands it: upstream's Go type has a pointer without omitempty here, and its
   * validation takes nil.
   */
  readonly requiredInOpenApi?: boolean
  /** Where it is missing although it is required the kind's own rules say so, in upstream's words. */
  readonly absenceIsToldByRules?: boolean
  /** An empty list says something here until it is stored: a default does not take its place. */
  readonly keepsEmpty?: boolean
  /**
   * Upstream's Go type has a pointer here: a false, a zero or an empty string was chosen, and stays. In an optional field that is
   * none such a value is absence, as Go's omitempty has it.
   */
  readonly pointer?: boolean
}

export interface ValidationContext<T> {
  readonly path: FieldPath
  /** The value before the update; undefined on create or where it was absent. */
  readonly old?: T | undefined
}

/** Checks one object beyond its single fields. Pure. */
export type Rule<T> = {
  bivarianceHack(value: T, context: ValidationContext<T>): readonly FieldError[]
}['bivarianceHack']

/** One of `x-kubernetes-validations`: an expression over `self`, and `oldSelf` on updates, that must be true. */
export interface CelRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

export interface Union {
  readonly fields: readonly string[]
  readonly discriminator?: string
  /** `at-most-one` unless said otherwise. */
  readonly arity?: 'at-most-one' | 'exactly-one'
  /** Only described, as upstream does where the discriminator's values are not the names of the fields. */
  readonly checked?: false
}

/** The static type a schema describes. */
export type Infer<S> = S extends { readonly [staticType]?: infer T } ? Exclude<T, undefined> : never
