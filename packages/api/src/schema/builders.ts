import type {
  AnySchema,
  BooleanSchema,
  BytesSchema,
  CelRule,
  Dialect,
  Field,
  Infer,
  IntegerSchema,
  IntOrStringSchema,
  LazySchema,
  ListSchema,
  MapSchema,
  NumberSchema,
  ObjectSchema,
  PatchStrategy,
  QuantitySchema,
  Rule,
  Schema,
  StringSchema,
  TimeSchema,
  Union,
} from './schema.ts'

type Options<S> = Omit<Partial<S>, 'type' | 'format'>

/** A string; with options, one that is checked. */
export function string(options: Omit<StringSchema, 'type' | 'enum'> = {}): StringSchema {
  return { type: 'string', ...options }
}

/** A string that is one of `values`. */
export function enumOf<const T extends string>(...values: readonly T[]): StringSchema<T> {
  return { type: 'string', enum: values }
}

/** A string whose values only the type checker knows. Upstream stores whatever it is given, or says so in its own words. */
export function literal<T extends string>(): StringSchema<T> {
  return { type: 'string' }
}

export function int32(options: Options<IntegerSchema> = {}): IntegerSchema {
  return { type: 'integer', format: 'int32', ...options }
}

export function int64(options: Options<IntegerSchema> = {}): IntegerSchema {
  return { type: 'integer', format: 'int64', ...options }
}

/** Any of 64 bits as it is: for what people write that upstream bounds by nothing else. Whoever reckons with it takes the nearest number. */
export function exactInt64(options: Options<IntegerSchema<number | bigint>> = {}): IntegerSchema<number | bigint> {
  return { type: 'integer', format: 'int64', exact: true, ...options }
}

export function double(options: Options<NumberSchema> = {}): NumberSchema {
  return { type: 'number', format: 'double', ...options }
}

export const boolean: BooleanSchema = { type: 'boolean' }
export const intOrString: IntOrStringSchema = { type: 'int-or-string' }
export const quantity: QuantitySchema = { type: 'quantity' }
export const time: TimeSchema = { type: 'time', micro: false }
export const microTime: TimeSchema = { type: 'time', micro: true }
export const bytes: BytesSchema = { type: 'bytes' }
export const any: AnySchema = { type: 'any', object: false }

/** Any JSON object, kept as it is, under an OpenAPI definition name. */
export function anyObject(name: string, doc: string): AnySchema<Readonly<Record<string, unknown>>> {
  return { type: 'any', object: true, name, doc }
}

/** A list for which upstream states no list type. */
export function list<S extends Schema>(
  items: S,
  options: Omit<ListSchema<Infer<S>>, 'type' | 'items' | 'listType' | 'mapKeys'> = {},
): ListSchema<Infer<S>> {
  return { type: 'list', items: items as Schema<Infer<S>>, ...options }
}

/** The same definition with an owner for each member, in a place where it has not one owner as a whole. */
export function granular<T>(definition: ObjectSchema<T>): ObjectSchema<T> {
  return { ...definition, mapType: 'granular', definition }
}

/** A list that has one owner as a whole. */
export function atomicList<S extends Schema>(
  items: S,
  options: Omit<ListSchema<Infer<S>>, 'type' | 'items'> = {},
): ListSchema<Infer<S>> {
  return { type: 'list', items: items as Schema<Infer<S>>, listType: 'atomic', ...options }
}

/** A list of distinct scalars. */
export function setList<S extends Schema>(
  items: S,
  options: Omit<ListSchema<Infer<S>>, 'type' | 'items'> = {},
): ListSchema<Infer<S>> {
  return { type: 'list', items: items as Schema<Infer<S>>, listType: 'set', ...options }
}

/**
 * A list whose elements are identified by `mapKeys`. Strategic merge patches match its elements by the first key,
 * unless the options say otherwise (`patchStrategy: undefined` for none).
 */
export function mapList<S extends Schema>(
  items: S,
  mapKeys: readonly [string, ...string[]],
  options: {
    readonly patchStrategy?: PatchStrategy | undefined
    readonly patchMergeKey?: string | undefined
    readonly minItems?: number
    readonly maxItems?: number
    readonly duplicates?: 'allowed'
  } = {},
): ListSchema<Infer<S>> {
  const { patchStrategy, patchMergeKey, ...rest } = {
    patchStrategy: 'merge' as const,
    patchMergeKey: mapKeys[0],
    ...options,
  }
  return {
    type: 'list',
    items: items as Schema<Infer<S>>,
    listType: 'map',
    mapKeys,
    ...(patchStrategy === undefined ? {} : { patchStrategy }),
    ...(patchStrategy === undefined || patchMergeKey === undefined ? {} : { patchMergeKey }),
    ...rest,
  }
}

/** String keys to values of one schema. */
export function mapOf<S extends Schema>(
  values: S,
  options: Omit<MapSchema<Infer<S>>, 'type' | 'values'> = {},
): MapSchema<Infer<S>> {
  return { type: 'map', values: values as Schema<Infer<S>>, ...options }
}

/** String to string, as labels are. */
export const stringMap: MapSchema<string> = { type: 'map', values: { type: 'string' } }

/** A schema defined later in the file, or one that contains itself. */
export function lazy<T>(resolve: () => Schema<T>): LazySchema<T> {
  return { type: 'lazy', resolve }
}

type FieldOptions<T> = Omit<Field<T>, 'schema' | 'doc' | 'required' | 'default'> & { readonly default?: NoInfer<T> }

/** A field that every stored object has. */
export function required<S extends Schema>(
  schema: S,
  doc: string,
  options: FieldOptions<Infer<S>> = {},
): Field<Infer<S>, true> {
  return { schema: schema as Schema<Infer<S>>, doc, required: true, ...options }
}

/** A field that may be absent; where its value is a false, a zero or an empty string, it is. */
export function optional<S extends Schema>(
  schema: S,
  doc: string,
  options: FieldOptions<Infer<S>> = {},
): Field<Infer<S>, false> {
  return { schema: schema as Schema<Infer<S>>, doc, required: false, ...options }
}

/** A field that may be absent, and in which a false, a zero or an empty string says something: a pointer in Go. */
export function pointer<S extends Schema>(
  schema: S,
  doc: string,
  options: FieldOptions<Infer<S>> = {},
): Field<Infer<S>, false> {
  return { ...optional(schema, doc, options), pointer: true }
}

/** A field that clients may leave out and every decoded object has: `value` is put in. */
export function defaulted<S extends Schema>(
  schema: S,
  doc: string,
  value: NoInfer<Infer<S>>,
  options: { readonly pointer?: boolean; readonly byValue?: boolean } = {},
): DefaultedField<Infer<S>> {
  return { schema: schema as Schema<Infer<S>>, doc, required: false, default: value, ...options }
}

export interface DefaultedField<T> extends Field<T, false> {
  readonly default: T
}

type FieldType<F> = F extends Field<infer T> ? T : never
type IsAlwaysThere<F> = F extends Field<unknown, true> | DefaultedField<unknown> ? true : false
type RequiredKeys<F> = { [K in keyof F]: IsAlwaysThere<F[K]> extends true ? K : never }[keyof F]
type Simplify<T> = { [K in keyof T]: T[K] }

/** The static type of an object with these fields. */
export type InferFields<F> = Simplify<
  { readonly [K in RequiredKeys<F>]: FieldType<F[K]> } & {
    readonly [K in Exclude<keyof F, RequiredKeys<F>>]?: FieldType<F[K]> | undefined
  }
>

/**
 * An object. `name` is its OpenAPI definition name (empty for an inline one), `doc` what `explain` says of it.
 * Fields are written, decoded and shown in the order given here.
 */
export function object<const F extends Readonly<Record<string, Field>>>(
  name: string,
  doc: string,
  fields: F,
  options: {
    readonly mapType?: 'atomic' | 'granular'
    readonly rules?: readonly Rule<InferFields<F>>[]
    readonly cel?: readonly CelRule[]
    readonly unions?: readonly Union[]
    readonly alternatives?: readonly (keyof F & string)[]
    readonly checkedOrder?: readonly string[]
    readonly preserveUnknownFields?: boolean
    readonly dialect?: Dialect
  } = {},
): ObjectSchema<InferFields<F>> {
  return { type: 'object', name, doc, fields, ...options }
}
