/** Field selectors: `status.phase=Running,spec.nodeName!=`. Semantics and wording are those of apimachinery's fields package. */
import { compareText } from './compare-text.ts'
import type { KubernetesObject } from './meta.ts'
import { type ApiError, badRequest } from './status.ts'
import type { FieldReader } from './stored-kind.ts'

/** One condition on a field: it has the value, or it has not. */
export interface FieldTerm {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** All terms must hold; none select everything. */
export interface FieldSelector {
  readonly terms: readonly FieldTerm[]
  /** As in query strings, with escapes. */
  toString(): string
}

/** Parses `a.b=c,d!=e`. `\\`, `\,` and `\=` stand for the characters themselves in values. Throws a BadRequest. */
export function parseFieldSelector(text: string): FieldSelector {
  const terms: FieldTerm[] = []
  for (const part of splitTerms(text).sort(compareText)) {
    if (part === '') continue
    const match = /^([^!=]*(?:!(?!=)[^!=]*)*)(!=|==|=)(.*)$/s.exec(part)
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`)
    const [, field = '', operator, value = ''] = match
    terms.push({ field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) })
  }
  return fieldSelector(terms)
}

/** The same for those who do not refuse it: undefined where it cannot be read. */
export function readFieldSelector(text: string): FieldSelector | undefined {
  try {
    return parseFieldSelector(text)
  } catch {
    return undefined
  }
}

/** A selector of these terms. */
export function fieldSelector(terms: readonly FieldTerm[]): FieldSelector {
  const text = (): string => terms.map((term) => `${term.field}${term.operator}${escapeValue(term.value)}`).join(',')
  return { terms, toString: text }
}

/** The fields every kind can be selected by. */
const metadataFields: Readonly<Record<string, FieldReader<KubernetesObject>>> = {
  'metadata.name': (object) => object.metadata.name ?? '',
  'metadata.namespace': (object) => object.metadata.namespace ?? '',
}

/**
 * Whether objects are selected, given how to read the fields of their kind (metadata.name and metadata.namespace are
 * always there). Throws a BadRequest where a term names another field; `isCustom` says of what sort the kind is, which words it.
 */
export function fieldMatcher<T extends KubernetesObject>(
  selector: Pick<FieldSelector, 'terms'>,
  selectableFields: Readonly<Record<string, FieldReader<T>>>,
  { isCustom = false } = {},
): (object: T) => boolean {
  const tests = selector.terms.map(({ field, operator, value }) => {
    const read = readerOf(field, selectableFields)
    if (read === undefined) throw unknownField(field, isCustom || Object.keys(selectableFields).length > 0)
    return (object: T): boolean => (read(object) === value) === (operator === '=')
  })
  return (object) => tests.every((test) => test(object))
}

function readerOf<T extends KubernetesObject>(
  field: string,
  selectableFields: Readonly<Record<string, FieldReader<T>>>,
): FieldReader<T> | undefined {
  if (Object.hasOwn(selectableFields, field)) return selectableFields[field]
  return Object.hasOwn(metadataFields, field) ? metadataFields[field] : undefined
}

/** Kinds that say which fields they have word it in another way than those that leave it at the metadata. */
const unknownField = (field: string, namesFields: boolean): ApiError =>
  badRequest(
    namesFields
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  )

/** Splits at commas that no backslash stands before. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let term = ''
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '\\') {
      term += text.slice(at, at + 2)
      at += 1
    } else if (character === ',') {
      terms.push(term)
      term = ''
    } else {
      term += character
    }
  }
  return [...terms, term]
}

const escapable = new Set(['\\', ',', '='])

const escapeValue = (value: string): string => value.replaceAll(/[\\,=]/g, (character) => `\\${character}`)

function unescapeValue(value: string): string {
  let result = ''
  for (let at = 0; at < value.length; at += 1) {
    const character = value.charAt(at)
    if (character === '\\') {
      at += 1
      const escaped = value.charAt(at)
      if (!escapable.has(escaped)) {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`)
      }
      result += escaped
    } else if (escapable.has(character)) {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`)
    } else {
      result += character
    }
  }
  return result
}
