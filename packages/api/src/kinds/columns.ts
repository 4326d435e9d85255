/** What the tables of kinds are made of. */
import { humanDuration } from '../human-duration.ts'
import type { KubernetesObject } from '../meta.ts'
import type { Cell, Column } from '../resource.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { Field, ObjectSchema, Schema } from '../schema/schema.ts'
import { parseTime } from '../time.ts'

/** A column as a kind writes it. `about` is what it shows: text, something of another type, or a field, which tells both. */
export interface ColumnSource<T> {
  readonly name: string
  cell(object: T, nowMs: number): Cell
  readonly about: string | Pick<Column<T>, 'type' | 'description'> | { readonly field: string }
  readonly format?: string
  readonly priority: number
}

/** A column that is always shown. Of `{ field: 'spec.replicas' }` the schema says type and description. */
export function column<T>(
  name: string,
  cell: ColumnSource<T>['cell'],
  about: ColumnSource<T>['about'],
): ColumnSource<T> {
  return { name, cell, about, priority: 0 }
}

/** A column that is shown with `-o wide` only. */
export function wideColumn<T>(
  name: string,
  cell: ColumnSource<T>['cell'],
  about: ColumnSource<T>['about'],
): ColumnSource<T> {
  return { name, cell, about, priority: 1 }
}

/** The column that identifies a row: the name of the object. */
export const nameColumn: ColumnSource<KubernetesObject> = {
  ...column(
    'Name',
    ({ metadata }: KubernetesObject) => metadata.name ?? '',
    'Name of the object, unique among its kind in its namespace.',
  ),
  format: 'name',
}

/** How long ago the object was created. */
export const ageColumn: ColumnSource<KubernetesObject> = column(
  'Age',
  ({ metadata }: KubernetesObject, nowMs) => timeSince(metadata.creationTimestamp, nowMs),
  'Time since the object was created.',
)

/** When the object was created, which is what kinds show that upstream has no table of its own for. */
export const createdAtColumn: ColumnSource<KubernetesObject> = column(
  'Created At',
  ({ metadata }: KubernetesObject) => metadata.creationTimestamp ?? '',
  { type: 'date', description: 'When the object was created.' },
)

/** The columns of objects with this schema. */
export function columnsOf<T>(schema: ObjectSchema<T>, sources: readonly ColumnSource<T>[]): readonly Column<T>[] {
  return sources.map(({ about, ...source }) => ({ ...describe(schema, about), ...source }))
}

function describe<T>(
  schema: ObjectSchema<T>,
  about: ColumnSource<T>['about'],
): Pick<Column<T>, 'type' | 'description'> {
  if (typeof about === 'string') return { type: 'string', description: about }
  if (!('field' in about)) return about
  const field = fieldAt(schema, about.field)
  const { type } = resolveSchema(field.schema)
  return {
    type: type === 'integer' || type === 'number' || type === 'boolean' ? type : 'string',
    description: field.doc,
  }
}

/** The field at a path such as `spec.replicas`. */
function fieldAt(schema: ObjectSchema, path: string): Field {
  let within: Schema = schema
  let found: Field | undefined
  for (const name of path.split('.')) {
    const object = resolveSchema(within)
    found = object.type === 'object' ? object.fields[name] : undefined
    if (found === undefined) throw new Error(`a column of ${schema.name} shows ${path}, which its schema does not have`)
    within = found.schema
  }
  return found as Field
}

/** The time since `timestamp` in two or three figures, or `<unknown>` without one. */
export function timeSince(timestamp: string | undefined, nowMs: number): string {
  return timestamp === undefined ? '<unknown>' : humanDuration(nowMs - parseTime(timestamp))
}

/** Joined by commas, in the order given: names or images of containers. */
export const joined = (texts: readonly string[]): string => texts.join(',')
