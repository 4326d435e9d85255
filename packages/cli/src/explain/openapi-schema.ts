/** A schema of an OpenAPI document, version 2 or 3, as far as it is explained. */
export interface OpenApiSchema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly required?: readonly string[]
  readonly items?: OpenApiSchema
  /** True for anything. */
  readonly additionalProperties?: OpenApiSchema | boolean
  readonly allOf?: readonly OpenApiSchema[]
  readonly enum?: readonly unknown[]
  readonly externalDocs?: { readonly description?: string; readonly url?: string }
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
}

export interface GroupVersionKind {
  readonly group?: string
  readonly version: string
  readonly kind: string
}

/** The schemas of a document by name; `$ref`s name them at their end. */
export type OpenApiSchemas = Readonly<Record<string, OpenApiSchema>>

/** Name of the schema that a reference means. */
export const referredName = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

/** The schema itself, or the one it refers to. */
export function resolveReference(schema: OpenApiSchema, schemas: OpenApiSchemas): OpenApiSchema {
  return schema.$ref === undefined ? schema : (schemas[referredName(schema.$ref)] ?? schema)
}

/** The schema of a field, as whoever asks for it has named it; undefined where there is none. */
export const propertyOf = ({ properties = {} }: OpenApiSchema, name: string): OpenApiSchema | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined

/** The schema of values of a map; undefined where the schema is of none, or of one that holds anything. */
export const mapValues = ({ additionalProperties: values }: OpenApiSchema): OpenApiSchema | undefined =>
  typeof values === 'object' ? values : undefined

/** The schema of a kind. */
export function schemaOfKind(schemas: OpenApiSchemas, wanted: GroupVersionKind): OpenApiSchema | undefined {
  return Object.values(schemas).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some(
      ({ group = '', version, kind }) =>
        group === (wanted.group ?? '') && version === wanted.version && kind === wanted.kind,
    ),
  )
}
