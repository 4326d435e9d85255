import { goFloat } from '@coracle/api/go-text'
import { Document, isScalar, type Pair, parse, type Scalar, type ScalarTag, type Tags, visit } from 'yaml'
import { compareKeys } from './compare-keys.ts'
import { foldLines } from './fold-lines.ts'

/** A value of JSON as Go's YAML writes it: keys in its order, texts quoted and folded as it does, and a line feed at the end. */
export function goYamlText(value: unknown): string {
  const document = new Document(value, { ...goYaml, sortMapEntries, aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      // What would be read as something else, or holds a tab, is in double quotes, other texts that need quotes in single ones.
      if (typeof node.value === 'string' && (isAmbiguous(node.value) || node.value.includes('\t'))) {
        node.type = 'QUOTE_DOUBLE'
      }
    },
  })
  return document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true })
}

const sortMapEntries = ({ key: a }: Pair, { key: b }: Pair): number => compareKeys(keyText(a), keyText(b))

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key)

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
function isAmbiguous(text: string): boolean {
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
