import { tokenRequestSchema } from '../src/kinds/authentication/token-request.ts'
import { builtinResources, unstoredResources } from '../src/kinds/builtin-kinds.ts'
import { bindingSchema, deleteOptionsSchema, evictionSchema, scaleSchema, statusSchema } from '../src/kinds/index.ts'
import { listSchema } from '../src/meta.ts'
import type { ObjectSchema, Schema } from '../src/schema/schema.ts'

/** The definitions of all built-in kinds, and of what is in them, by their names. */
export function definitions(): ReadonlyMap<string, ObjectSchema> {
  const found = new Map<string, ObjectSchema>()
  const queue: Schema[] = [
    bindingSchema,
    deleteOptionsSchema,
    evictionSchema,
    scaleSchema,
    statusSchema,
    tokenRequestSchema,
  ]
  for (const { schema } of [...builtinResources, ...unstoredResources]) {
    queue.push(schema, listSchema(`${schema.name}List`, schema))
  }
  for (let schema = queue.pop(); schema !== undefined; schema = queue.pop()) {
    if (schema.type === 'lazy') queue.push(schema.resolve())
    if (schema.type === 'list') queue.push(schema.items)
    if (schema.type === 'map') queue.push(schema.values)
    if (schema.type !== 'object' || found.has(schema.name)) continue
    found.set(schema.name, schema.definition ?? schema)
    queue.push(...Object.values(schema.fields).map((field) => field.schema))
  }
  return found
}
