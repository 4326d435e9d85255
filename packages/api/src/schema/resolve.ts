import type { LazySchema, Schema } from './schema.ts'

/** A schema that stands for itself. */
export type ResolvedSchema = Exclude<Schema, LazySchema>

/** The schema a lazy one stands for; any other is itself. */
export function resolveSchema(schema: Schema): ResolvedSchema {
  let resolved = schema
  while (resolved.type === 'lazy') resolved = resolved.resolve()
  return resolved
}

/** The last part of a definition name: `Pod` of `io.k8s.api.core.v1.Pod`. */
export function shortName(definitionName: string): string {
  return definitionName.slice(definitionName.lastIndexOf('.') + 1)
}

/** The version in a definition name: `v1` of `io.k8s.api.core.v1.Pod`. */
export function versionOf(definitionName: string): string {
  return definitionName.split('.').at(-2) ?? ''
}
