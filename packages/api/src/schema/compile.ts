/**
 * Schemas made into functions. Each schema is compiled once into closures, and what it refers to only when a value
 * needs it, so recursive schemas are no special case.
 */
import type { FieldError } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import type { JsonObject } from '../json.ts'
import { type Decoded, type DecodeOptions, decodeRoot } from './decode.ts'
import type { Decoder } from './decode-context.ts'
import { type Defaulter, defaulterOf } from './defaults.ts'
import { decoderOf } from './go/decode.ts'
import type { Dialect, Schema } from './schema.ts'
import { type Validator, validatorOf } from './validate.ts'

/** What a schema does to values. All of it is pure, and returns what it got where there is nothing to change. */
export interface CompiledSchema<T> {
  readonly schema: Schema<T>
  /**
   * Turns a JSON value into one of the schema's type: unknown fields go, nulls and empty lists and maps are absence,
   * times and quantities become canonical, fields get the schema's order. A value that is like this already comes back
   * as the same reference. Throws a BadRequest, worded as upstream words it, where a value has the wrong type, and with
   * `fieldValidation: 'Strict'` where a field is unknown.
   */
  decode(value: unknown, options?: DecodeOptions): Decoded<T>
  /** Puts in the schema's defaults where their field is absent. Members that are those of `complete` have them, and are passed over. */
  applyDefaults(value: T, complete?: object): T
  /** What is wrong with a decoded value, in the order of its fields. With `old`, also what an update may not change. */
  validate(value: T, options?: ValidateOptions<T>): readonly FieldError[]
}

export interface ValidateOptions<T> {
  /** Where the value is; the root unless said otherwise. */
  readonly path?: FieldPath
  /** The value before the update. */
  readonly old?: T | undefined
  /** What is known to be wrong already: rules of custom kinds, which may rely on it, are then not asked. */
  readonly known?: readonly FieldError[]
}

const compiled = {
  go: new WeakMap<object, CompiledSchema<unknown>>(),
  structural: new WeakMap<object, CompiledSchema<unknown>>(),
} as const

export interface CompileOptions {
  /** How values are read: as the schema says, and where it says nothing as built-in kinds are. */
  readonly dialect?: Dialect
}

/** What interprets the schemas of a dialect. */
export interface Interpreters {
  decoderOf(schema: Schema): Decoder
  defaulterOf(schema: Schema): Defaulter
  validatorOf(schema: Schema): Validator
}

const interpreters = new Map<Dialect, Interpreters>([['go', { decoderOf, defaulterOf, validatorOf }]])

/** Lets schemas of another dialect be compiled: see `structural/dialect.ts`. */
export function addDialect(dialect: Dialect, added: Interpreters): void {
  interpreters.set(dialect, added)
}

/** The functions of a schema, compiled on the first call. */
export function compile<T>(schema: Schema<T>, options: CompileOptions = {}): CompiledSchema<T> {
  const dialect = options.dialect ?? (schema.type === 'object' ? schema.dialect : undefined) ?? 'go'
  const known = compiled[dialect].get(schema)
  if (known !== undefined) return known as CompiledSchema<T>
  const { decoderOf, defaulterOf, validatorOf } = interpretersOf(dialect)
  const made: CompiledSchema<T> = {
    schema,
    decode: (value, options = {}) => decodeRoot(schema, value, options, decoderOf(schema)),
    applyDefaults: (value, complete) => defaulterOf(schema)(value, complete as JsonObject | undefined) as T,
    validate: (value, options = {}) => {
      const { path = FieldPath.root, old, known = [] } = options
      const errors = [...known]
      validatorOf(schema)(value, path, '', old, errors)
      return known.length === 0 ? errors : errors.slice(known.length)
    },
  }
  compiled[dialect].set(schema, made as CompiledSchema<unknown>)
  return made
}

function interpretersOf(dialect: Dialect): Interpreters {
  const found = interpreters.get(dialect)
  if (found === undefined) throw new Error(`schemas of the dialect ${dialect} are read before it is added`)
  return found
}
