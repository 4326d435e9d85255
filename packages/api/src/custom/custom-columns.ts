import { isJsonObject } from '../json.ts'
import { findJsonPath, printJsonPath } from '../jsonpath/evaluate-jsonpath.ts'
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
  if (columns === undefined || columns.length === 0) return columnsOf(schema, [nameColumn, ageColumn])
  return [...columnsOf(schema, [nameColumn]), ...columns.map(customColumn)]
}

function customColumn({ name, type, format, description, priority, jsonPath }: CustomResourceColumn) {
  const path = templateOf(jsonPath)
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

/** A path that cannot be read finds nothing, as upstream's tables have it. */
function templateOf(jsonPath: string): Template {
  try {
    return parseJsonPath(`{${jsonPath}}`)
  } catch {
    return []
  }
}

function cellOf(type: string, path: Template, object: KubernetesObject, nowMs: number): Cell {
  try {
    const [found = []] = findJsonPath(path, object)
    const [value] = found
    if (found.length === 0 || value === null || value === undefined) return null
    return type === 'string' ? printJsonPath(path, object) : typedCell(type, value, nowMs)
  } catch {
    return null
  }
}

function typedCell(type: string, value: unknown, nowMs: number): Cell {
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
