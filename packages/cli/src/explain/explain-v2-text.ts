import type { Explained } from './explain-text.ts'
import {
  mapValues,
  type OpenApiSchema,
  type OpenApiSchemas,
  propertyOf,
  referredName,
  resolveReference,
} from './openapi-schema.ts'
import { fillText } from './wrap-text.ts'

const lineWidth = 80
const descriptionIndent = 5
const fieldIndent = 3

/** What `kubectl explain --output=plaintext-openapiv2` prints, from OpenAPI v2. Undefined where there is no such field. */
export function explainV2Text({ kind, schema, schemas, path, isRecursive }: Explained): string | undefined {
  const found = follow(schema, path, schemas)
  if (found === undefined) return undefined
  const { group = '', version } = kind
  const { descriptions, end } = leafOf(found, schemas)
  const type = typeOf(found, schemas)
  const isObject = end.properties !== undefined
  const name = path.at(-1)
  const label = isObject ? 'RESOURCE: ' : 'FIELD:    '
  return [
    `KIND:     ${kind.kind}\nVERSION:  ${group === '' ? version : `${group}/${version}`}\n\n`,
    name === undefined ? '' : `${label}${name} <${type}>\n\n`,
    'DESCRIPTION:\n',
    describe(descriptions),
    isObject
      ? `\nFIELDS:\n${isRecursive ? fieldTree(end, fieldIndent, schemas, new Set()) : fieldList(end, schemas)}`
      : '',
  ].join('')
}

/** The schema at the end of a path; lists and maps are passed through. */
function follow(
  schema: OpenApiSchema,
  [field, ...rest]: readonly string[],
  schemas: OpenApiSchemas,
): OpenApiSchema | undefined {
  if (field === undefined) return schema
  const { end } = leafOf(schema, schemas)
  const next = propertyOf(end, field)
  return next === undefined ? undefined : follow(next, rest, schemas)
}

/** What a schema is in the end, and the descriptions on the way there. */
function leafOf(schema: OpenApiSchema, schemas: OpenApiSchemas) {
  const descriptions: string[] = []
  let end = schema
  for (;;) {
    descriptions.push(end.description ?? '')
    const inner = end.$ref === undefined ? (end.items ?? mapValues(end)) : resolveReference(end, schemas)
    if (inner === undefined || inner === end) return { descriptions, end }
    end = inner
  }
}

function describe(descriptions: readonly string[]): string {
  const given = descriptions.flatMap((text, index) => (text === '' ? [] : [{ text, isFirst: index === 0 }]))
  if (given.length === 0) return `${' '.repeat(descriptionIndent)}<empty>\n`
  return given.map(({ text, isFirst }) => `${isFirst ? '' : '\n'}${filled(text, descriptionIndent)}`).join('')
}

const filled = (text: string, indent: number): string =>
  fillText(text, lineWidth - indent)
    .map((line) => `${line === '' ? '' : ' '.repeat(indent)}${line}\n`)
    .join('')

const fieldsOf = ({ properties = {} }: OpenApiSchema) =>
  Object.entries(properties).toSorted(([a], [b]) => (a < b ? -1 : 1))

function fieldList(schema: OpenApiSchema, schemas: OpenApiSchemas): string {
  return fieldsOf(schema)
    .map(([name, field]) => {
      const required = schema.required?.includes(name) === true ? ' -required-' : ''
      const line = `${' '.repeat(fieldIndent)}${name}\t<${typeOf(field, schemas)}>${required}\n`
      return `${line}${filled(field.description ?? '', descriptionIndent)}\n`
    })
    .join('')
}

/** Fields with those below them; a schema is not gone into again below itself. */
function fieldTree(schema: OpenApiSchema, indent: number, schemas: OpenApiSchemas, seen: ReadonlySet<string>): string {
  return fieldsOf(schema)
    .map(([name, field]) => {
      const line = `${' '.repeat(indent)}${name}\t<${typeOf(field, schemas)}>\n`
      return line + treeBelow(field, indent + fieldIndent, schemas, seen)
    })
    .join('')
}

function treeBelow(schema: OpenApiSchema, indent: number, schemas: OpenApiSchemas, seen: ReadonlySet<string>): string {
  const inner = schema.items ?? mapValues(schema)
  if (inner !== undefined) return treeBelow(inner, indent, schemas, seen)
  if (schema.$ref === undefined) return fieldTree(schema, indent, schemas, seen)
  const name = referredName(schema.$ref)
  if (seen.has(name)) return ''
  return treeBelow(resolveReference(schema, schemas), indent, schemas, new Set([...seen, name]))
}

function typeOf(schema: OpenApiSchema, schemas: OpenApiSchemas): string {
  const values = mapValues(schema)
  if (schema.$ref !== undefined) {
    const resolved = resolveReference(schema, schemas)
    return resolved === schema ? 'Object' : typeOf(resolved, schemas)
  }
  if (schema.items !== undefined) return `[]${typeOf(schema.items, schemas)}`
  if (values !== undefined) return `map[string]${typeOf(values, schemas)}`
  if (schema.properties !== undefined) return 'Object'
  // An object of which nothing more is said is a map of anything, and of anything there is no name.
  return schema.type === 'object' ? 'map[string]' : (schema.type ?? '')
}
