/**
 * Writes `kubernetes-openapi-enums.json` anew from the OpenAPI v3 documents of a server of upstream: see README.md beside this file.
 *
 *     node extract-openapi-enums.ts DOCUMENT...
 */
import { readFileSync, writeFileSync } from 'node:fs'

interface Property {
  readonly enum?: readonly string[]
  readonly items?: Property
  readonly additionalProperties?: Property
}

interface Document {
  readonly components?: {
    readonly schemas?: Readonly<Record<string, { readonly properties?: Readonly<Record<string, Property>> }>>
  }
}

/** The values of the fields whose values are listed (those of their items, where they have some), by definition and field. */
export type OpenApiEnums = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

const file = new URL('kubernetes-openapi-enums.json', import.meta.url)

/** The values as they are kept. */
export function readOpenApiEnums(): OpenApiEnums {
  return JSON.parse(readFileSync(file, 'utf8'))
}

if (import.meta.main) {
  const documents = process.argv.slice(2)
  if (documents.length === 0) throw new Error('usage: node extract-openapi-enums.ts DOCUMENT...')
  const found = documents.map((path) => enumsOf(JSON.parse(readFileSync(path, 'utf8'))))
  writeFileSync(file, render(Object.assign({}, ...found)))
}

/** What a document lists, without the versions that are no stable ones. */
export function enumsOf({ components: { schemas = {} } = {} }: Document): OpenApiEnums {
  const stable = Object.entries(schemas).filter(
    ([name]) => name.startsWith('io.k8s.') && !/\.v\d+(alpha|beta)\d+\./.test(name),
  )
  const entries = stable.map(([name, { properties = {} }]) => {
    const listed = Object.entries(properties).flatMap(([field, property]) => {
      const values = property.enum ?? property.items?.enum ?? property.additionalProperties?.enum
      return values === undefined ? [] : [[field, [...values].sort()] as const]
    })
    return [name, Object.fromEntries(listed)] as const
  })
  return Object.fromEntries(entries)
}

/** One definition a line. */
function render(enums: OpenApiEnums): string {
  const lines = Object.entries(enums)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, fields]) => `${JSON.stringify(name)}:${JSON.stringify(fields)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}
