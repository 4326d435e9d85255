import { isJsonObject } from '../json.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'

const apiFields: readonly string[] = ['apiVersion', 'kind', 'metadata']

/** Whether a value has fields that its schema does not know, and would lose. What every object of the API has is no such field. */
export function hasUnknownFields(value: unknown, props: JsonSchemaProps | undefined): boolean {
  if (props?.['x-kubernetes-preserve-unknown-fields'] === true) return hasUnknownWithin(value, props)
  const items = singleItems(props)
  if (Array.isArray(value)) return value.some((each) => hasUnknownFields(each, items))
  if (!isJsonObject(value)) return false
  if (props === undefined) return Object.keys(value).length > 0
  const { properties = {}, additionalProperties } = props
  return Object.entries(value).some(([name, each]) => {
    if (isApiField(name, props)) return false
    if (Object.hasOwn(properties, name)) return hasUnknownFields(each, properties[name])
    return additionalProperties === undefined || hasUnknownFields(each, schemaOf(additionalProperties))
  })
}

/** What keeps unknown fields may have parts that do not. */
function hasUnknownWithin(value: unknown, props: JsonSchemaProps | undefined): boolean {
  if (props === undefined) return false
  if (Array.isArray(value)) return value.some((each) => hasUnknownWithin(each, singleItems(props)))
  if (!isJsonObject(value)) return false
  const { properties = {}, additionalProperties } = props
  return Object.entries(value).some(([name, each]) => {
    if (isApiField(name, props)) return false
    if (Object.hasOwn(properties, name)) return hasUnknownFields(each, properties[name])
    return additionalProperties !== undefined && hasUnknownFields(each, schemaOf(additionalProperties))
  })
}

const isApiField = (name: string, props: JsonSchemaProps): boolean =>
  props['x-kubernetes-embedded-resource'] === true && apiFields.includes(name)

const singleItems = (props: JsonSchemaProps | undefined): JsonSchemaProps | undefined =>
  Array.isArray(props?.items) ? undefined : (props?.items as JsonSchemaProps | undefined)

const schemaOf = (values: JsonSchemaProps | boolean): JsonSchemaProps | undefined =>
  typeof values === 'boolean' ? undefined : values
