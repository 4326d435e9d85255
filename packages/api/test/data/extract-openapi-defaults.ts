/**
 * Writes `kubernetes-openapi-defaults.json` anew from the schemas that client-go applies by: see README.md beside this file.
 *
 *     node extract-openapi-defaults.ts applyconfigurations/internal/internal.go
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'yaml'

interface StructuredSchema {
  readonly types: readonly {
    readonly name: string
    readonly map?: { readonly fields?: readonly { readonly name: string; readonly default?: unknown }[] }
  }[]
}

/** The defaults of the fields that have one, by definition and field. */
export type OpenApiDefaults = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const file = new URL('kubernetes-openapi-defaults.json', import.meta.url)

/** The defaults as they are kept. */
export function readOpenApiDefaults(): OpenApiDefaults {
  return JSON.parse(readFileSync(file, 'utf8'))
}

if (import.meta.main) {
  const [source] = process.argv.slice(2)
  if (source === undefined) throw new Error('usage: node extract-openapi-defaults.ts internal.go')
  writeFileSync(file, render(extract(readFileSync(source, 'utf8'))))
}

/** The schemas are YAML between the first backtick and the last. Versions that are no stable ones are left out. */
function extract(text: string): OpenApiDefaults {
  const { types }: StructuredSchema = parse(text.slice(text.indexOf('`') + 1, text.lastIndexOf('`')))
  const stable = types.filter(({ name, map }) => map?.fields !== undefined && !/\.v\d+(alpha|beta)\d+\./.test(name))
  return Object.fromEntries(
    stable.map(({ name, map }) => {
      const stated = (map?.fields ?? []).filter((field) => 'default' in field)
      return [name, Object.fromEntries(stated.map((field) => [field.name, field.default]))]
    }),
  )
}

/** One definition a line. */
function render(defaults: OpenApiDefaults): string {
  const lines = Object.entries(defaults).map(([name, fields]) => `${JSON.stringify(name)}:${JSON.stringify(fields)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}
