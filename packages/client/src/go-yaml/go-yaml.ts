import { goFloat } from '@coracle/api/go-text'
import { Document, isScalar, type Pair, parse, type Scalar, type ScalarTag, type Tags, visit } from 'yaml'
import { compareKeys } from './compare-keys.ts'
import { foldLines } from './fold-lines.ts'
import { withGoNumbers } from './go-numbers.ts'

/** A value of JSON as Go's YAML writes it: keys in its order, texts quoted and folded as it does, and a line feed at the end. */
export function goYamlText(value: unknown): string {
  const document = new Document(value, { ...goYaml, sortMapEntries, aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      const { value } = node
      if (typeof value !== 'string') return
      // What would be read as something else, or is not shown as it is, is in double quotes, other texts that need quotes in single ones.
      if (isAmbiguous(value) || needsEscapes(value)) node.type = 'QUOTE_DOUBLE'
      else if (isDocumentMark(value) && !value.includes('\n')) node.type = 'QUOTE_SINGLE'
    },
  })
  const options = { indentSeq: false, lineWidth: 0, singleQuote: true, doubleQuotedMinMultiLineLength: Infinity }
  return document.toString(options)
}

const sortMapEntries = ({ key: a }: Pair, { key: b }: Pair): number => compareKeys(keyText(a), keyText(b))

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key)

/** YAML 1.1 as Go reads it. */
const goYaml = {
  version: '1.1',
  customTags: (tags: Tags): Tags =>
    withGoNumbers(tags).map((tag) => {
      if (typeof tag !== 'object') return tag
      if (tag.tag === 'tag:yaml.org,2002:float') return { ...tag, stringify: numberText } as ScalarTag
      if (tag.tag === 'tag:yaml.org,2002:int') return { ...tag, stringify: numberText } as ScalarTag
      return tag.tag === 'tag:yaml.org,2002:str' ? foldingTag(tag as ScalarTag) : tag
    }),
} as const

/**
 * A number as Go's YAML writes it: digits where JSON has digits alone, and a 64-bit integer holds them. Those that only an unsigned one
 * holds have been a float before, and end in zeros.
 */
function numberText({ value }: Scalar): string {
  if (typeof value === 'bigint') return String(value)
  const number = Number(value)
  if (!Number.isInteger(number) || number >= 2 ** 64 || number < -(2 ** 63)) return goFloat(number)
  return number < 2 ** 63 ? String(BigInt(number)) : String(number)
}

/** What Go's YAML does not write as it is: controls, tabs, and what is not in Unicode's first plane. */
const unprintable = /[^\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/gu

/** Whether only double quotes can hold a text: for its characters, or since blocks keep no spaces at the ends of lines. */
const needsEscapes = (text: string): boolean =>
  text.search(unprintable) >= 0 || text.includes(' \n') || (text.includes('\n') && text.endsWith(' '))

/** A space at the end of a line, with what stands before: this library marks it with a backslash. */
const spaceAtLineEnd = /(?<!\\)((?:\\\\)*)\\ (?=\\n)/g

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const hex = (digits: number) => code.toString(16).toUpperCase().padStart(digits, '0')
  return code > 0xffff ? `\\U${hex(8)}` : code > 0xff ? `\\u${hex(4)}` : `\\x${hex(2)}`
}

/** A block that begins with an empty line says how far it is indented, and its empty lines are empty. */
function asBlock(value: string, text: string): string {
  return value.startsWith('\n') ? text.replace(/^\|\d?/, '|2').replaceAll(/ +$/gm, '') : text
}

/** A quoted text in single quotes, also where it has some itself, unless only double quotes can hold it, with escapes. */
function inQuotes(value: string, text: string, type: Scalar['type']): string {
  // A time on a day that is none, or a number beyond all, is a text for Go.
  if (text.startsWith("'") && /^[-+]?\d[-+\w.:]*\w$/.test(value) && !isAmbiguous(value)) return value
  if (!text.startsWith('"')) return text
  if (type === 'QUOTE_DOUBLE') return text.replaceAll(unprintable, escaped).replaceAll(spaceAtLineEnd, '$1 ')
  return value.includes("'") && !value.includes('\n') ? `'${value.replaceAll("'", "''")}'` : text
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
          const value = String(item.value)
          const text = asBlock(value, inQuotes(value, stringify(item, context, onComment, onChompKeep), item.type))
          const { indent, indentStep, implicitKey, indentAtStart } = context as FoldingContext
          // What follows the name of a field begins behind it.
          const column = indentAtStart === undefined ? 0 : indentAtStart - indentStep.length
          return implicitKey === true ? text : foldLines(text, indent, indent.length + column)
        },
      }),
})

/** Whether a text, written as it is, would be read as a number, a truth, a time or nothing. */
function isAmbiguous(text: string): boolean {
  if (text === '' || /^(y|n|[-+]?0_*(o[0-7_]+|x[\da-f_]+|b[01_]+))$/i.test(text)) return true
  // Nothing with spaces around is any of these.
  if (text.startsWith(' ') || text.endsWith(' ')) return false
  if (isDocumentMark(text) || (/^\d{4}-/.test(text) && !beginsWithDay(text))) return false
  if (!/^([-+.\d~]|yes|no|on|off|true|false|null)[-\w.:+ ]*$/i.test(text)) return false
  try {
    const value = parse(text, goYaml)
    if (Math.abs(value) === Infinity) return /inf/i.test(text)
    return typeof value !== 'string' && !Array.isArray(value) && !isMapping(value)
  } catch {
    return false
  }
}

/** Whether a value is one that has fields; a time, which is an object too, is none. */
const isMapping = (value: unknown): boolean => value !== null && Object.getPrototypeOf(value) === Object.prototype

const isDocumentMark = (text: string): boolean => /^(---|\.\.\.)/.test(text)

/** Whether there is such a day as a time begins with. */
function beginsWithDay(time: string): boolean {
  const [year = 0, month = 0, day = 0] = time.split(/\D/).map(Number)
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  return day >= 1 && day <= days
}
