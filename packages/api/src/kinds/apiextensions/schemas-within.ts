import type { JsonSchemaProps } from '../../custom/json-schema-props.ts'

/** Whether a schema, or one in it, is as asked. */
export function someSchema(
  props: JsonSchemaProps | boolean | undefined,
  test: (props: JsonSchemaProps) => boolean,
): boolean {
  if (props === undefined || typeof props === 'boolean') return false
  return test(props) || [...schemasIn(props)].some((each) => someSchema(each, test))
}

/** The schemas right in a schema, in the order in which upstream comes to them. */
function* schemasIn(props: JsonSchemaProps): Iterable<JsonSchemaProps | boolean | undefined> {
  const { items, dependencies = {} } = props
  if (Array.isArray(items)) yield* items
  else yield items as JsonSchemaProps | undefined
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) yield* props[name] ?? []
  yield props.not
  yield* Object.values(props.properties ?? {})
  yield props.additionalProperties
  yield* Object.values(props.patternProperties ?? {})
  yield props.additionalItems
  yield* Object.values(props.definitions ?? {})
  for (const each of Object.values(dependencies)) if (!Array.isArray(each)) yield each as JsonSchemaProps
}
