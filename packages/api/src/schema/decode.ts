/** Decoding of a whole object, whatever dialect its schema is in. */
import { compareText } from '../compare-text.ts'
import { badRequest } from '../status.ts'
import { DecodeContext, type Decoder, type FieldValidation, type GoTypes, Undecodable } from './decode-context.ts'
import { resolveSchema, shortName, versionOf } from './resolve.ts'
import type { Schema } from './schema.ts'

export interface DecodeOptions {
  /** `Ignore` unless said otherwise. */
  readonly fieldValidation?: FieldValidation
  /** Kind and version for messages; taken from the schema's name unless given. */
  readonly kind?: string
  readonly version?: string
  /**
   * An object of this schema that was decoded before: members of the value that are this object's own are taken over without
   * looking into them. A patch of the status does not pay for the spec.
   */
  readonly known?: object | undefined
  /**
   * Zero values and empty lists and maps are kept where they would be absence otherwise: what somebody applies is taken by its
   * words.
   */
  readonly keepsZeros?: boolean
  /** Nulls stay, also those that may not be there, or that are absence: what is applied says them. Of built-in kinds only with `keepsZeros`. */
  readonly keepsNulls?: boolean
  /** What messages need to name the types of fields as upstream's structs do; without it, what the schema tells of them. */
  readonly goTypes?: GoTypes | undefined
}

export interface Decoded<T> {
  readonly value: T
  /** `unknown field "spec.foo"`, one per field that was dropped; none with `Ignore`. */
  readonly warnings: readonly string[]
  /** How many values were looked at: what any work on the value takes grows with it. */
  readonly valuesCount: number
}

/**
 * Unknown fields of a custom resource in upstream's order: those of its metadata, those its schema does not have, those in the metadata of
 * objects within it, each by their paths. (Of others they are told as they come.)
 */
function unknownOfCustom({ unknown, unknownInEmbedded }: DecodeContext): readonly string[] {
  if (unknown.length + unknownInEmbedded.length < 2) return unknown.length > 0 ? unknown : unknownInEmbedded
  const isOwnMetadata = (text: string): boolean => text.startsWith('unknown field "metadata.')
  const [own, pruned] = [unknown.filter(isOwnMetadata), unknown.filter((text) => !isOwnMetadata(text))]
  return [own, pruned, unknownInEmbedded].flatMap((each) => each.sort(compareText))
}

/** Decodes a whole object with the decoder of its schema. See CompiledSchema.decode. */
export function decodeRoot<T>(schema: Schema<T>, value: unknown, options: DecodeOptions, decoder: Decoder): Decoded<T> {
  const context = new DecodeContext(schema, options)
  const resolved = resolveSchema(schema)
  const name = resolved.type === 'object' ? resolved.name : ''
  const explain = (why: string): string => {
    const kind = options.kind ?? shortName(name)
    const version = options.version ?? versionOf(name)
    return kind === '' ? why : `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`
  }
  try {
    const decoded = decoder(value, context, undefined) as T
    if (context.firstMistake !== undefined) throw context.firstMistake
    const isCustom = resolved.type === 'object' && resolved.dialect === 'structural'
    const unknown = isCustom ? unknownOfCustom(context) : context.unknown
    if (options.fieldValidation === 'Strict' && unknown.length > 0) {
      throw badRequest(explain(`strict decoding error: ${unknown.join(', ')}`))
    }
    return { value: decoded, warnings: unknown, valuesCount: context.valuesCount }
  } catch (error) {
    if (error instanceof Undecodable) throw Object.assign(badRequest(explain(error.message)), { cause: error })
    throw error
  }
}
