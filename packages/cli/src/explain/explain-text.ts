import {
  type GroupVersionKind,
  mapValues,
  type OpenApiSchema,
  type OpenApiSchemas,
  propertyOf,
  referredName,
  resolveReference,
} from './openapi-schema.ts'
import { indentText, wrapText } from './wrap-text.ts'

export interface Explained {
  readonly kind: GroupVersionKind
  readonly schema: OpenApiSchema
  readonly schemas: OpenApiSchemas
  /** Fields from the kind to what is explained: none for the kind itself. */
  readonly path: readonly string[]
  /** All fields below, in a line each. */
  readonly isRecursive: boolean
}

/** What `kubectl explain` prints, from OpenAPI v3; undefined where there is no such field. */
export function explainText({ kind, schema, schemas, path, isRecursive }: Explained): string | undefined {
  const writer = new ExplainWriter(schemas, isRecursive)
  const text = writer.outputOf(schema, path, new Set())
  if (text === '') return undefined
  return `${explainedKind(kind)}${text}\n`
}

/** What it begins with, and all that there is of a field that is not there. */
export const explainedKind = ({ group = '', kind, version }: GroupVersionKind): string =>
  `${group === '' ? '' : `GROUP:      ${group}\n`}KIND:       ${kind}\nVERSION:    ${version}\n\n`

/** How many values of an enum are shown where a field is one of a list. */
const listedEnumMax = 4

class ExplainWriter {
  readonly #schemas: OpenApiSchemas
  readonly #isRecursive: boolean

  constructor(schemas: OpenApiSchemas, isRecursive: boolean) {
    this.#schemas = schemas
    this.#isRecursive = isRecursive
  }

  /** Follows the path and describes what is at its end. Empty where that is nothing. `seen` are references followed since the last field. */
  outputOf(schema: OpenApiSchema, path: readonly string[], seen: ReadonlySet<string>): string {
    const resolved = resolveReference(schema, this.#schemas)
    const [field, ...rest] = path
    if (field === undefined) return this.#description(resolved)
    const { $ref } = schema
    if ($ref !== undefined && seen.has($ref)) return ''
    const next = $ref === undefined ? seen : new Set([...seen, $ref])
    const property = propertyOf(resolved, field)
    if (property !== undefined) {
      const text = this.outputOf(property, rest, new Set())
      if (rest.length > 0 || text === '') return text
      return `FIELD: ${field} <${this.#typeOf(property)}>\n${longEnum(property)}\n\n${text}`
    }
    const inner = resolved.items ?? mapValues(resolved)
    if (inner !== undefined) return this.outputOf(inner, path, next)
    for (const part of resolved.allOf ?? []) {
      const text = this.outputOf(part, path, next)
      if (text !== '') return text
    }
    return ''
  }

  #description(schema: OpenApiSchema): string {
    const fields = this.#fieldsOf(schema, 1, new Set())
    const text = this.#allDescriptions(schema)
    return [
      `DESCRIPTION:\n${indentText(wrapText(text === '' ? '<empty>' : text, 76), 4)}\n`,
      externalDocs(schema, 0),
      fields === '' ? '' : `FIELDS:\n${fields}`,
    ].join('')
  }

  /** Its own description, and those of what it is made of. */
  #allDescriptions(schema: OpenApiSchema): string {
    const { description = '', allOf = [], items, ...rest } = resolveReference(schema, this.#schemas)
    const values = mapValues(rest)
    const parts = [...allOf, ...(items === undefined ? [] : [items]), ...(values === undefined ? [] : [values])]
    return `${description === '' ? '' : `${description}\n`}${parts.map((part) => this.#allDescriptions(part)).join('')}`
  }

  /** The fields of a schema, and of what it is made of. References that lead back are left out. */
  #fieldsOf(schema: OpenApiSchema, level: number, seen: ReadonlySet<string>): string {
    const { $ref } = schema
    if ($ref !== undefined && seen.has($ref)) return ''
    const next = $ref === undefined ? seen : new Set([...seen, $ref])
    const resolved = resolveReference(schema, this.#schemas)
    const names = Object.keys(resolved.properties ?? {}).toSorted()
    const own = names.map((name) => {
      const field = resolved.properties?.[name] ?? {}
      const below = this.#isRecursive ? this.#fieldsOf(field, level + 1, next) : ''
      return this.#field(name, field, resolved.required?.includes(name) === true, level) + below
    })
    const values = mapValues(resolved)
    const parts = [
      ...(resolved.allOf ?? []),
      ...(resolved.items === undefined ? [] : [resolved.items]),
      ...(values === undefined ? [] : [values]),
    ]
    return [...own, ...parts.map((part) => this.#fieldsOf(part, level, next))].join('')
  }

  #field(name: string, field: OpenApiSchema, isRequired: boolean, level: number): string {
    const indent = level * 2
    const required = isRequired ? ' -required-' : ''
    const line = `${' '.repeat(indent)}${name}\t<${this.#typeOf(field)}>${required}${shortEnum(field, indent)}\n`
    if (this.#isRecursive) return line
    const text = indentText(wrapText(field.description || '<no description>', 78 - indent), indent + 2)
    return `${line}${text}\n${externalDocs(field, indent)}\n`
  }

  /** `string`, `[]Container`, `map[string]Quantity`. */
  #typeOf(schema: OpenApiSchema): string {
    const { items, allOf, properties, $ref, type } = schema
    const values = mapValues(schema)
    if (items !== undefined) return `[]${this.#typeOf(items)}`
    if (values !== undefined) return `map[string]${this.#typeOf(values)}`
    const [only, ...more] = allOf ?? []
    if (only !== undefined && more.length === 0 && properties === undefined) return this.#typeOf(only)
    if ($ref === undefined) return type === undefined || type === 'object' ? 'Object' : type
    const referred = this.#schemas[referredName($ref)]
    if (referred?.type !== undefined && referred.type !== 'object') return referred.type
    return $ref.split('/').at(-1)?.split('.').at(-1) || 'Object'
  }
}

const shown = (value: unknown): string => (value === '' ? '""' : String(value))

const longEnum = ({ enum: values = [] }: OpenApiSchema): string =>
  values.length === 0 ? '' : `ENUM:${values.map((value) => `\n    ${shown(value)}`).join('')}`

function shortEnum({ enum: values = [] }: OpenApiSchema, indent: number): string {
  if (values.length === 0) return ''
  const more = values.length > listedEnumMax ? ', ....' : ''
  return `\n${' '.repeat(indent)}enum: ${values.slice(0, listedEnumMax).map(shown).join(', ')}${more}`
}

function externalDocs({ externalDocs: docs }: OpenApiSchema, indent: number): string {
  if (docs === undefined) return ''
  const heading = indent === 0 ? 'EXTERNAL DOCS:\n' : `${' '.repeat(indent + 2)}EXTERNAL DOCS:\n`
  const description = docs.description ? `${indentText(wrapText(docs.description, 76 - indent), indent + 4)}\n` : ''
  const url = docs.url ? `${' '.repeat(indent + 4)}URL: ${docs.url}\n` : ''
  return `\n${heading}${description}${url}`
}
