/** What decoders share while they walk through a value: where they are, and which fields nobody knows. */
import { WrittenNumber } from '../exact-json.ts'
import { FieldPath } from '../field-path.ts'
import { goQuoted } from '../go-text.ts'
import { isJsonObject, type JsonObject, jsonTypeOf, nestingMax } from '../json.ts'
import { requestTooLarge } from '../status.ts'
import type { DecodeOptions } from './decode.ts'
import { type ResolvedSchema, resolveSchema } from './resolve.ts'
import type { ObjectSchema, Schema } from './schema.ts'

/** What to do about fields the schema does not know: drop them, say so, or refuse the value. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** Warnings beyond these are not kept: nobody reads them. */
export const unknownFieldsMax = 100

/**
 * Values that one object may hold when it is decoded: lists, maps and what is in them count alike. No pass over an object of
 * this size takes longer than others can wait. Upstream bounds its objects by the bytes that etcd takes, to about as much.
 */
export const objectValuesMax = 100_000

/** Throws RequestEntityTooLarge for more values than an object may hold. */
export function checkValuesCount(count: number): void {
  if (count > objectValuesMax) {
    throw requestTooLarge(`The object holds more than ${objectValuesMax} values: spread them over several objects`)
  }
}

/** What upstream's structs have that schemas do not tell: see `@coracle/api/go-types`. */
export interface GoTypes {
  /** The structs within that of a definition in which a field stands, each followed by a dot: `VolumeSource.`. */
  within(definition: string, field: string): string
  /**
   * The type of a field, or of what is so many lists and maps deep in it; undefined where it is what the schema tells. Definitions have
   * their names of OpenAPI.
   */
  typeOf(definition: string, field: string, depth: number): string | undefined
  /** What a type is whose name does not tell: a text, a list or a map. Undefined for any other, and for structs. */
  kindOf(type: string): 'string' | 'slice' | 'map' | undefined
}

/** A value that has not the form its schema wants. */
export class Undecodable extends Error {
  /** The value that has not the type its schema wants, where that is what is wrong. */
  readonly value: unknown

  constructor(problem: string, value?: unknown) {
    super(problem)
    this.value = value
  }
}

/** Where a decoder is: what messages need to name the field. */
export class DecodeContext {
  readonly unknown: string[] = []
  /** Those in the metadata of objects within the object, which upstream looks at last. */
  readonly unknownInEmbedded: string[] = []
  /** Whether such metadata is being decoded. */
  isInEmbeddedMetadata = false
  readonly keepsZeros: boolean
  readonly keepsNulls: boolean
  readonly #collects: boolean
  /** Field names and list positions from the root. */
  readonly #steps: (string | number)[] = []
  /** The depths of those steps that are keys of maps. */
  readonly #keys: number[] = []
  readonly #known: JsonObject | undefined
  readonly #root: Schema
  readonly #isCustom: boolean
  readonly #goTypes: GoTypes | undefined
  #valuesCount = 0
  #firstMistake: Undecodable | undefined

  /** `root` is the schema of the whole. */
  constructor(root: Schema, options: DecodeOptions) {
    const { fieldValidation = 'Ignore', known, keepsZeros = false, keepsNulls = false, goTypes } = options
    this.#root = root
    this.#isCustom = root.type === 'object' && root.dialect === 'structural'
    this.#goTypes = goTypes
    this.#collects = fieldValidation !== 'Ignore'
    this.#known = known as JsonObject | undefined
    this.keepsZeros = keepsZeros
    this.keepsNulls = keepsNulls
  }

  /** Whether a member of the root was decoded before, as the member of this name. */
  isKnown(name: string, value: unknown): boolean {
    return this.#known !== undefined && this.#steps.length === 0 && isJsonObject(value) && this.#known[name] === value
  }

  enter(step: string | number): void {
    if (this.#steps.length >= nestingMax) throw new Undecodable('exceeded max depth')
    this.#steps.push(step)
    this.addValues(1)
  }

  /** Enters the value of a map's key: Go names those of structs alone. */
  enterKey(key: string): void {
    this.#keys.push(this.#steps.length)
    this.enter(key)
  }

  leaveKey(): void {
    this.#keys.pop()
    this.leave()
  }

  get valuesCount(): number {
    return this.#valuesCount
  }

  addValues(count: number): void {
    this.#valuesCount += count
    if (this.#valuesCount > objectValuesMax) checkValuesCount(this.#valuesCount)
  }

  leave(): void {
    this.#steps.pop()
  }

  get depth(): number {
    return this.#steps.length
  }

  /** Where the value is that is decoded. */
  get path(): FieldPath {
    return this.#steps.reduce<FieldPath>(
      (path, step) => (typeof step === 'number' ? path.index(step) : path.field(step)),
      FieldPath.root,
    )
  }

  unknownField(name: string): void {
    const { unknown, unknownInEmbedded } = this
    if (!this.#collects || unknown.length + unknownInEmbedded.length >= unknownFieldsMax) return
    let path = ''
    for (const step of [...this.#steps, name]) {
      path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
    }
    const found = this.isInEmbeddedMetadata ? unknownInEmbedded : unknown
    // Of custom kinds upstream tells it as it is.
    found.push(`unknown field ${this.#isCustom ? `"${path}"` : goQuoted(path)}`)
  }

  /** The first value that has not the type its schema wants: what is said unless decoding fails at another. */
  get firstMistake(): Undecodable | undefined {
    return this.#firstMistake
  }

  /**
   * Notes a value that has not the type its schema wants. Go's decoder goes on after it, and tells of it unless a type that decodes itself
   * fails later.
   */
  mistaken(value: unknown, goType: string, owner: string | undefined): undefined {
    this.#firstMistake ??= this.mismatch(value, goType, owner)
  }

  /** Notes a value that its schema cannot take, as `mistaken` does. */
  wrong(problem: string): undefined {
    this.#firstMistake ??= new Undecodable(problem)
  }

  /** Positions in lists and keys of maps are left out of the path: so does Go's decoder. */
  mismatch(value: unknown, goType: string, owner: string | undefined): Undecodable {
    const { path, type = goType } = this.#goPlace()
    const found = /^(?:u?int|float)/.test(goType) ? numberOrType(value) : jsonTypeOf(value)
    const target = owner === undefined || path === '' ? 'Go value' : `Go struct field ${owner}.${path}`
    return new Undecodable(
      `json: cannot unmarshal ${found} into ${target} of type ${owner === undefined ? goType : type}`,
      value,
    )
  }

  /** The names of the fields on the way to the value, with those of structs within structs, and its type where the schema does not tell it. */
  #goPlace(): { readonly path: string; readonly type: string | undefined } {
    const path: string[] = []
    let schema: Schema | undefined = this.#root
    let definition = ''
    let field = ''
    let depth = 0
    for (const [at, step] of this.#steps.entries()) {
      const of: ResolvedSchema | undefined = schema && resolveSchema(schema)
      if (typeof step === 'number' || this.#keys.includes(at)) {
        schema = of?.type === 'list' ? of.items : of?.type === 'map' ? of.values : undefined
        depth += 1
        continue
      }
      const object: ObjectSchema | undefined = of?.type === 'object' ? of : undefined
      schema = object?.fields[step]?.schema
      definition = object?.name ?? ''
      field = step
      depth = 0
      path.push(`${this.#goTypes?.within(definition, step) ?? ''}${step}`)
    }
    return { path: path.join('.'), type: this.#goTypes?.typeOf(definition, field, depth) }
  }
}

/** A number with all its digits, as far as they were kept: JavaScript itself ends them in zeros. Of anything else what it is. */
function numberOrType(value: unknown): string {
  if (typeof value === 'number') return `number ${Number.isInteger(value) ? BigInt(value) : value}`
  return typeof value === 'bigint' || value instanceof WrittenNumber ? `number ${value}` : jsonTypeOf(value)
}

/** `owner` is the definition the value is a field of, for messages. */
export type Decoder = (value: unknown, context: DecodeContext, owner: string | undefined) => unknown
