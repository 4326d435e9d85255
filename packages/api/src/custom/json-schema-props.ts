import type { CelRule } from '../schema/schema.ts'

/**
 * A schema as a CustomResourceDefinition writes it: `JSONSchemaProps` of apiextensions.k8s.io/v1. Any of it may be missing or
 * mistaken; `readCustomSchema` says what is wrong.
 */
export interface JsonSchemaProps {
  readonly id?: string
  readonly $schema?: string
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly default?: unknown
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maxLength?: number | bigint
  readonly minLength?: number | bigint
  readonly pattern?: string
  readonly maxItems?: number | bigint
  readonly minItems?: number | bigint
  readonly uniqueItems?: boolean
  readonly multipleOf?: number
  readonly enum?: readonly unknown[]
  readonly maxProperties?: number | bigint
  readonly minProperties?: number | bigint
  readonly required?: readonly string[]
  readonly items?: JsonSchemaProps | readonly JsonSchemaProps[]
  readonly allOf?: readonly JsonSchemaProps[]
  readonly oneOf?: readonly JsonSchemaProps[]
  readonly anyOf?: readonly JsonSchemaProps[]
  readonly not?: JsonSchemaProps
  readonly properties?: Readonly<Record<string, JsonSchemaProps>>
  readonly additionalProperties?: JsonSchemaProps | boolean
  readonly patternProperties?: Readonly<Record<string, JsonSchemaProps>>
  readonly dependencies?: Readonly<Record<string, JsonSchemaProps | readonly string[]>>
  readonly additionalItems?: JsonSchemaProps | boolean
  readonly definitions?: Readonly<Record<string, JsonSchemaProps>>
  readonly externalDocs?: { readonly description?: string; readonly url?: string }
  readonly example?: unknown
  readonly nullable?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly CelRule[]
}
