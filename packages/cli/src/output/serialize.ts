import { isJsonObject, type JsonObject, sortKeys } from '@coracle/api'
import type { ScalarTag, Tags } from 'yaml'
import { kyaml } from './kyaml.ts'

export type SerializedFormat = 'json' | 'kyaml' | 'yaml'

/** A value as `-o json` and `-o yaml` print it: keys in order and texts quoted as kubectl does, and a line feed at the end. */
export async function serialize(value: unknown, format: SerializedFormat): Promise<string> {
  const sorted = sortKeys(value)
  if (format === 'json') return `${JSON.stringify(sorted, undefined, 4)}\n`
  if (format === 'kyaml') return kyaml(sorted)
  const { Document, parse, visit } = await import('yaml')
  const document = new Document(sorted, { ...goYaml, aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      // What would be read as something else is in double quotes, other texts that need quotes in single ones.
      if (typeof node.value === 'string' && isAmbiguous(node.value, parse)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true })
}

/** YAML 1.1 as Go reads it: a lone point is a text there, and no number. */
const goYaml = {
  version: '1.1',
  customTags: (tags: Tags): Tags =>
    tags.map((tag) =>
      typeof tag === 'object' && tag.test?.test('.') === true
        ? ({ ...tag, test: new RegExp(`(?!^\\.$)${tag.test.source}`) } as ScalarTag)
        : tag,
    ),
} as const

/** Whether a text, written as it is, would be read as a number, a truth, a time or nothing. */
function isAmbiguous(text: string, parse: (text: string, options: typeof goYaml) => unknown): boolean {
  if (text === '' || /^(y|n)$/i.test(text)) return true
  if (!/^([-+.\d~]|yes|no|on|off|true|false|null)[-\w.:+ ]*$/i.test(text)) return false
  try {
    return typeof parse(text, goYaml) !== 'string'
  } catch {
    return false
  }
}

/** The object without the record of who set which field, which nobody wants to read. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata) || object.metadata.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
