/**
 * Writes `kubernetes-openapi-facts.json` anew from an OpenAPI v2 document of Kubernetes: see README.md beside this file.
 *
 *     node extract-openapi-facts.ts swagger.json
 */
import { readFileSync, writeFileSync } from 'node:fs'

type Json = Readonly<Record<string, unknown>>

interface OpenApiDocument {
  readonly definitions: Readonly<Record<string, Json>>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>
}

/** The facts, as the file has them. */
export interface OpenApiFacts {
  /** Definitions by name, without texts. */
  readonly definitions: Readonly<Record<string, Json>>
  /** Of each path, its HTTP methods and the kind each works on, such as `apps/v1/Deployment`. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, string>>>>
}

const file = new URL('kubernetes-openapi-facts.json', import.meta.url)

/** The facts as they are kept. */
export function readOpenApiFacts(): OpenApiFacts {
  return JSON.parse(readFileSync(file, 'utf8'))
}

if (import.meta.main) {
  const [source] = process.argv.slice(2)
  if (source === undefined) throw new Error('usage: node extract-openapi-facts.ts swagger.json')
  writeFileSync(file, render(extract(JSON.parse(readFileSync(source, 'utf8')))))
}

function extract({ definitions, paths }: OpenApiDocument): OpenApiFacts {
  return {
    definitions: mapValues(definitions, (definition) => withoutTexts(definition) as Json),
    paths: mapValues(paths, (operations) => {
      const methods = Object.entries(operations).filter(([, operation]) => kindOf(operation) !== undefined)
      return Object.fromEntries(methods.map(([method, operation]) => [method, kindOf(operation) ?? '']))
    }),
  }
}

function kindOf(operation: Json): string | undefined {
  const about = operation['x-kubernetes-group-version-kind'] as
    | { readonly group: string; readonly version: string; readonly kind: string }
    | undefined
  if (about === undefined) return undefined
  const { group, version, kind } = about
  return [...(group === '' ? [] : [group]), version, kind].join('/')
}

/** Drops descriptions and defaults. Below `properties` members are fields, and stay whatever they are called. */
function withoutTexts(value: unknown, areFields = false): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutTexts(each))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([name]) => areFields || (name !== 'description' && name !== 'default'))
  return Object.fromEntries(
    members.map(([name, member]) => [name, withoutTexts(member, name === 'properties' && !areFields)]),
  )
}

/** A line for each entry, so that a new version of the document shows as the lines it changes. */
function render({ definitions, paths }: OpenApiFacts): string {
  const lines = (entries: Readonly<Record<string, unknown>>) =>
    Object.entries(entries)
      .filter(([, value]) => Object.keys(value as object).length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(',\n')
  return `{"definitions":{\n${lines(definitions)}\n},\n"paths":{\n${lines(paths)}\n}}\n`
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Readonly<Record<string, B>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
