import { isJsonObject } from '../json.ts'
import { findJsonPath, printJsonValue } from '../jsonpath/evaluate-jsonpath.ts'
import { parseJsonPath } from '../jsonpath/parse-jsonpath.ts'
import type { Template } from '../jsonpath/template.ts'
import type { CustomResourceColumn } from '../kinds/apiextensions/custom-resource-definition-schema.ts'
import { ageColumn, columnsOf, nameColumn, timeSince } from '../kinds/columns.ts'
import type { KubernetesObject } from '../meta.ts'
import type { Cell, Column } from '../resource.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { parseTime } from '../time.ts'

/** The columns of a version: the name, and what its definition names; the age where it names nothing. */
export function customColumns(
  schema: ObjectSchema<KubernetesObject>,
  columns: readonly CustomResourceColumn[] | undefined,
): readonly Column<KubernetesObject>[] {
  if (columns === undefined || columns.length === 0) return columnsOf(schema, [nameColumn, createdColumn])
  // As upstream's tables have it, whose columns end before one that cannot be read.
  const unreadable = columns.findIndex(({ jsonPath }) => templateOf(jsonPath) === undefined)
  const shown = unreadable === -1 ? columns : columns.slice(0, unreadable)
  return [...columnsOf(schema, [nameColumn]), ...shown.map(customColumn)]
}

/** The age, as the column of a definition would show it. */
const createdColumn = {
  ...ageColumn,
  about: { type: 'date', description: 'Time since the object was created.' },
} as const

function customColumn({ name, type, format, description, priority, jsonPath }: CustomResourceColumn) {
  const path = templateOf(jsonPath) ?? []
  const column: Column<KubernetesObject> = {
    name,
    type: type as Column<KubernetesObject>['type'],
    ...(format === undefined ? {} : { format }),
    // Upstream puts words of its own where there are none.
    description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority: priority ?? 0,
    cell: (object, nowMs) => cellOf(type, path, object, nowMs),
  }
  return column
}

/** Undefined for a path that cannot be read. */
function templateOf(jsonPath: string): Template | undefined {
  try {
    return parseJsonPath(`{${jsonPath}}`)
  } catch {
    return undefined
  }
}

function cellOf(type: string, path: Template, object: KubernetesObject, nowMs: number): Cell {
  try {
    const [found = []] = findJsonPath(path, object)
    const [value] = found
    if (found.length === 0 || value === null || value === undefined) return null
    // Of several only the first is shown.
    return type === 'string' ? printJsonValue(value) : typedCell(type, value, nowMs)
  } catch {
    return null
  }
}

function typedCell(type: string, value: unknown, nowMs: number): Cell {
  if (typeof value === 'bigint') return type === 'integer' || type === 'number' ? value : null
  if (type === 'integer') return typeof value === 'number' ? Math.trunc(value) : null
  if (type === 'number') return typeof value === 'number' ? value : null
  if (type === 'boolean') return typeof value === 'boolean' ? value : null
  if (type !== 'date' || typeof value !== 'string') return null
  return Number.isNaN(parseTime(value)) ? '<invalid>' : timeSince(value, nowMs)
}

/** The value at a simple path such as `.spec.color`; undefined where there is none. */
export function valueAt(object: unknown, fields: readonly string[]): unknown {
  let value: unknown = object
  for (const field of fields) {
    if (!isJsonObject(value) || !Object.hasOwn(value, field)) return undefined
    value = value[field]
  }
  return value
}

/** The fields of a simple path. */
export const fieldsOf = (path: string): readonly string[] => path.split('.').filter((field) => field !== '')
