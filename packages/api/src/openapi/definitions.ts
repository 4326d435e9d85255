/** Schemas as OpenAPI writes them: one definition per name, references between them, Kubernetes' extensions. */
import type { JsonObject } from '../json.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type {
  AnySchema,
  BytesSchema,
  Field,
  ListSchema,
  MapSchema,
  ObjectSchema,
  Schema,
  StringSchema,
} from '../schema/schema.ts'
import { publishedDefault } from './published-default.ts'
import { publishedEnum } from './published-enum.ts'
import { customKindOpenApi } from './structural.ts'

/** The two dialects: `v2` is Swagger 2.0, `v3` OpenAPI 3.0. */
export type OpenApiVersion = 'v2' | 'v3'

/** Group, version and kind, as the extension x-kubernetes-group-version-kind has them. */
export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** An object schema, whatever its static type. */
export type AnyObjectSchema = Pick<ObjectSchema, Exclude<keyof ObjectSchema, 'rules' | symbol>>

/** A schema that stands for kinds of the API. */
export interface KindSchema {
  readonly schema: AnyObjectSchema
  readonly kinds: readonly GroupVersionKind[]
}

/** Definitions by name, in alphabetical order: of `roots` and all that they refer to. */
export function openApiDefinitions(
  roots: readonly KindSchema[],
  version: OpenApiVersion,
): Readonly<Record<string, JsonObject>> {
  const writer = new DefinitionWriter(version)
  for (const { schema, kinds } of roots) writer.addRoot(schema as ObjectSchema, kinds)
  return writer.definitions()
}

/** A reference to a definition. */
export function openApiReference(name: string, version: OpenApiVersion): JsonObject {
  return { $ref: `${version === 'v2' ? '#/definitions/' : '#/components/schemas/'}${name}` }
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const leaves = {
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  'int-or-string': 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  time: `${meta}.Time`,
  microTime: `${meta}.MicroTime`,
} as const

const bytesProperty = ({ listType }: BytesSchema): JsonObject => ({
  type: 'string',
  format: 'byte',
  ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
})

class DefinitionWriter {
  readonly #version: OpenApiVersion
  readonly #found = new Map<string, JsonObject>()
  readonly #kinds = new Map<string, readonly GroupVersionKind[]>()

  constructor(version: OpenApiVersion) {
    this.#version = version
  }

  addRoot(schema: ObjectSchema, kinds: readonly GroupVersionKind[]): void {
    this.#kinds.set(schema.name, kinds)
    this.#found.delete(schema.name)
    this.#reference(schema.name, () => this.#object(schema))
  }

  definitions(): Readonly<Record<string, JsonObject>> {
    return Object.fromEntries([...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Writes a definition on its first mention. It is entered before it is made, so recursion ends. */
  #reference(name: string, make: () => JsonObject): JsonObject {
    if (!this.#found.has(name)) {
      this.#found.set(name, {})
      this.#found.set(name, make())
    }
    return openApiReference(name, this.#version)
  }

  #schema(schema: Schema): JsonObject {
    const resolved = resolveSchema(schema)
    switch (resolved.type) {
      case 'string':
        return this.#string(resolved)
      case 'integer':
      case 'number': {
        const { minimum, maximum, type, format } = resolved
        const limits = this.#version === 'v3' ? defined({ minimum, maximum }) : {}
        return { type, format, ...limits }
      }
      case 'boolean':
        return { type: 'boolean' }
      case 'bytes':
        return bytesProperty(resolved)
      case 'quantity':
        return this.#reference(leaves.quantity, () => this.#quantity())
      case 'int-or-string':
        return this.#reference(leaves['int-or-string'], () => this.#intOrString())
      case 'time':
        return this.#reference(resolved.micro ? leaves.microTime : leaves.time, () => ({
          description: resolved.micro
            ? 'A time in RFC 3339 with microseconds.'
            : 'A time in RFC 3339, in whole seconds.',
          type: 'string',
          format: 'date-time',
        }))
      case 'any':
        return this.#any(resolved)
      case 'list':
        return this.#list(resolved)
      case 'map':
        return this.#map(resolved)
      case 'object':
        return resolved.name === ''
          ? this.#object(resolved)
          : this.#reference(resolved.name, () => this.#object(resolved.definition ?? resolved))
    }
  }

  #string({ enum: values, minLength, maxLength, pattern }: StringSchema): JsonObject {
    // Upstream's Swagger 2.0 document states none of this.
    if (this.#version === 'v2') return { type: 'string' }
    const limits = defined({ minLength, maxLength, pattern })
    return { type: 'string', ...limits, ...(values === undefined ? {} : { enum: [...values].sort() }) }
  }

  #quantity(): JsonObject {
    const description = 'An amount with an optional suffix, such as 100m, 1.5, 2Gi or 1e3.'
    return this.#version === 'v2'
      ? { description, type: 'string' }
      : { description, oneOf: [{ type: 'string' }, { type: 'number' }] }
  }

  #intOrString(): JsonObject {
    const description = 'A number or a text, such as a port by number or name, or a count or percentage.'
    return this.#version === 'v2'
      ? { description, type: 'string', format: 'int-or-string' }
      : { description, format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }
  }

  #any({ name, doc, object }: AnySchema): JsonObject {
    const described = { ...(doc === undefined ? {} : { description: doc }), ...(object ? { type: 'object' } : {}) }
    return name === undefined ? described : this.#reference(name, () => described)
  }

  #list({ items, listType, mapKeys, minItems, maxItems }: ListSchema): JsonObject {
    return {
      type: 'array',
      items: this.#schema(items),
      ...(this.#version === 'v3' ? defined({ minItems, maxItems }) : {}),
      ...(mapKeys === undefined ? {} : { 'x-kubernetes-list-map-keys': mapKeys }),
      ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    }
  }

  #map({ values, mapType }: MapSchema): JsonObject {
    return {
      type: 'object',
      additionalProperties: this.#schema(values),
      ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
    }
  }

  #object(schema: ObjectSchema): JsonObject {
    const kinds = this.#kinds.get(schema.name)
    if (schema.dialect === 'structural') {
      return {
        ...customKindOpenApi(schema, this.#version, (field) => this.#property(field, field.default)),
        ...(kinds === undefined || kinds.length === 0 ? {} : { 'x-kubernetes-group-version-kind': kinds }),
      }
    }
    const fields = Object.entries(schema.fields)
    const required = fields
      .filter(([, field]) => field.required || field.requiredInOpenApi === true)
      .map(([name]) => name)
    const properties = Object.fromEntries(
      fields.map(([name, field]) => {
        const property = this.#property(field, publishedDefault(schema, name))
        return [name, this.#version === 'v2' ? property : withEnum(property, publishedEnum(schema, name))]
      }),
    )
    return {
      ...(schema.doc === '' ? {} : { description: schema.doc }),
      type: 'object',
      ...(fields.length > 0 ? { properties } : {}),
      ...(required.length > 0 ? { required } : {}),
      ...(kinds === undefined || kinds.length === 0 ? {} : { 'x-kubernetes-group-version-kind': kinds }),
      ...(schema.mapType === undefined ? {} : { 'x-kubernetes-map-type': schema.mapType }),
      ...(schema.cel === undefined ? {} : { 'x-kubernetes-validations': schema.cel }),
      ...(schema.preserveUnknownFields === true ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
    }
  }

  /** `byDefault` is what the field is said to hold where it is absent; undefined where nothing is said. */
  #property(field: Field, byDefault: unknown): JsonObject {
    const value = this.#schema(field.schema)
    const resolved = resolveSchema(field.schema)
    const strategy = field.patchStrategy ?? (resolved.type === 'list' ? resolved.patchStrategy : undefined)
    const mergeKey = resolved.type === 'list' ? resolved.patchMergeKey : undefined
    const mapType = resolved.type === 'object' && resolved.definition !== undefined ? resolved.mapType : undefined
    const described = {
      description: field.doc,
      // Upstream's Swagger 2.0 document states no defaults.
      ...(byDefault === undefined || this.#version === 'v2' ? {} : { default: byDefault }),
      ...(resolved.nullable === true && this.#version === 'v3' ? { nullable: true } : {}),
    }
    return {
      ...described,
      // What stands beside a reference is ignored in OpenAPI 3.0, so the reference is wrapped there.
      ...('$ref' in value && this.#version === 'v3' ? { allOf: [value] } : value),
      ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
      ...(mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
      ...(strategy === undefined ? {} : { 'x-kubernetes-patch-strategy': strategy }),
    }
  }
}

/** A property, or what its items are, with these values for an enumeration; without any where they are null. */
function withEnum(property: JsonObject, values: readonly string[] | null | undefined): JsonObject {
  if (values === undefined) return property
  for (const inner of ['items', 'additionalProperties']) {
    const items = property[inner]
    if (items !== undefined) return { ...property, [inner]: withEnum(items as JsonObject, values) }
  }
  const { enum: _, ...rest } = property
  return values === null ? rest : { ...rest, enum: [...values].sort() }
}

/** Only the members that have a value. */
const defined = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
