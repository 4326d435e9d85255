import { goFloat, isJsonObject, type JsonObject, sortKeys } from '@coracle/api'
import type { Scalar, ScalarTag, Tags } from 'yaml'
import { foldLines } from './fold-lines.ts'
import { safeInHtml } from './go-json.ts'
import { kyaml } from './kyaml.ts'

export type SerializedFormat = 'json' | 'kyaml' | 'yaml'

/**
 * A value as `-o json` and `-o yaml` print it: keys in order and texts quoted as kubectl does, and a line feed at the end. What stands in
 * an order of its own (`isOrdered`) keeps that where the format can.
 */
export async function serialize(value: unknown, format: SerializedFormat, isOrdered = false): Promise<string> {
  const sorted = isOrdered && format !== 'yaml' ? value : sortKeys(value)
  if (format === 'json') return `${safeInHtml(JSON.stringify(sorted, undefined, 4))}\n`
  if (format === 'kyaml') return kyaml(sorted)
  const { Document, parse, visit } = await import('yaml')
  const document = new Document(sorted, { ...goYaml, aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      // What would be read as something else, or holds a tab, is in double quotes, other texts that need quotes in single ones.
      if (typeof node.value === 'string' && (isAmbiguous(node.value, parse) || node.value.includes('\t'))) {
        node.type = 'QUOTE_DOUBLE'
      }
    },
  })
  return document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true })
}

/** YAML 1.1 as Go reads it: a lone point is a text there, and no number. */
const goYaml = {
  version: '1.1',
  customTags: (tags: Tags): Tags =>
    tags.map((tag) => {
      if (typeof tag !== 'object') return tag
      if (tag.test?.test('.') === true) {
        return { ...tag, test: new RegExp(`(?!^\\.$)${tag.test.source}`) } as ScalarTag
      }
      if (tag.tag === 'tag:yaml.org,2002:float') return { ...tag, stringify: numberText } as ScalarTag
      if (tag.tag === 'tag:yaml.org,2002:int') return { ...tag, stringify: numberText } as ScalarTag
      return tag.tag === 'tag:yaml.org,2002:str' ? foldingTag(tag as ScalarTag) : tag
    }),
} as const

/** A number as Go's YAML writes it: digits where JSON has digits alone, and a 64-bit integer holds them. */
function numberText({ value }: Scalar): string {
  const number = Number(value)
  return Number.isInteger(number) && number < 2 ** 64 && number >= -(2 ** 63) ? String(number) : goFloat(number)
}

/** A quoted text in single quotes, also where it has some itself, unless only double quotes can hold it. */
function inSingleQuotes({ type, value }: Scalar, text: string): string {
  if (!text.startsWith('"') || type === 'QUOTE_DOUBLE' || typeof value !== 'string') return text
  return /^[ -~\u00a0-\ud7ff]*'[ -~\u00a0-\ud7ff]*$/.test(value) ? `'${value.replaceAll("'", "''")}'` : text
}

/** Where a scalar stands; `indentAtStart` is the room that the name of its field takes, where it is the value of one. */
interface FoldingContext {
  readonly indent: string
  readonly indentStep: string
  readonly implicitKey?: boolean
  readonly indentAtStart?: number
}

/** Texts with their long lines folded. */
const foldingTag = ({ stringify, ...tag }: ScalarTag): ScalarTag => ({
  ...tag,
  ...(stringify === undefined
    ? {}
    : {
        stringify: (item: Scalar, context, onComment, onChompKeep) => {
          const text = inSingleQuotes(item, stringify(item, context, onComment, onChompKeep))
          const { indent, indentStep, implicitKey, indentAtStart } = context as FoldingContext
          // What follows the name of a field begins behind it.
          const column = indentAtStart === undefined ? 0 : indentAtStart - indentStep.length
          return implicitKey === true ? text : foldLines(text, indent, indent.length + column)
        },
      }),
})

/** Whether a text, written as it is, would be read as a number, a truth, a time or nothing. */
function isAmbiguous(text: string, parse: (text: string, options: typeof goYaml) => unknown): boolean {
  if (text === '' || /^(y|n)$/i.test(text)) return true
  if (!/^([-+.\d~]|yes|no|on|off|true|false|null)[-\w.:+ ]*$/i.test(text)) return false
  try {
    const value = parse(text, goYaml)
    return typeof value !== 'string' && !Array.isArray(value) && !isMapping(value)
  } catch {
    return false
  }
}

/** Whether a value is one that has fields; a time, which is an object too, is none. */
const isMapping = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** The object, or list of objects, without the record of who set which field, which nobody wants to read. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  if (Array.isArray(object.items)) {
    const items = object.items.map((item) => (isJsonObject(item) ? withoutManagedFields(item) : item))
    return { ...withoutManagedFields({ ...object, items: undefined }), items }
  }
  if (!isJsonObject(object.metadata) || object.metadata.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
