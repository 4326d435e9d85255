/**
 * Swagger 2.0 documents in the protobuf form of gnostic (`openapi.v2.Document`). kubectl and Helm ask for no other where
 * the third version does not have a kind: for every `List`, and before they can say that a kind is unknown.
 * The numbers are those of https://github.com/google/gnostic/blob/main/openapiv2/OpenAPIv2.proto.
 */
import { isJsonObject, type JsonObject } from '@coracle/api'
import { WireWriter } from './protobuf-writer.ts'

/** Encodes a Swagger 2.0 document. Throws where it holds something that no member below stands for. */
export function encodeOpenApiV2(document: JsonObject): Buffer {
  const writer = new WireWriter()
  documentMessage(writer, document as never)
  return writer.finish()
}

/** Writes a value without its field number: the content of a message. What is written goes before all that was (`WireWriter`). */
type Encode = (writer: WireWriter, value: never) => void
/** Writes a member with its field number, or several of the same number. */
type Member = (writer: WireWriter, value: never) => void

interface MessageOptions {
  /** Where members that begin with `x-` go. */
  readonly extensions?: number
  /** Where all other members go: a map. */
  readonly entries?: Member
}

const one =
  (number: number, encode: Encode): Member =>
  (writer, value) => {
    const end = writer.length
    encode(writer, value)
    writer.message(number, end)
  }

const many = (number: number, encode: Encode): Member => {
  const each = one(number, encode)
  return (writer: WireWriter, values: readonly never[]) => {
    for (let at = values.length - 1; at >= 0; at -= 1) each(writer, values[at] as never)
  }
}

const text =
  (number: number): Member =>
  (writer, value: string) =>
    writer.text(number, value)
const texts =
  (number: number): Member =>
  (writer, values: readonly string[]) => {
    for (let at = values.length - 1; at >= 0; at -= 1) writer.text(number, values[at] as string)
  }
const flag =
  (number: number): Member =>
  (writer, value: boolean) => {
    if (value) writer.integer(number, 1)
  }
const integer =
  (number: number): Member =>
  (writer, value: number) =>
    writer.integer(number, value)
const double =
  (number: number): Member =>
  (writer, value: number) =>
    writer.double(number, value)

/** Pairs of name and value are how gnostic writes maps. */
const named = (number: number, encode: Encode): Member => {
  const value = one(2, encode)
  return one(number, (writer, [name, member]: readonly [string, never]) => {
    value(writer, member)
    writer.text(1, name)
  })
}

/** A message of an object's members, in their order. */
function message(fields: Readonly<Record<string, Member>>, { extensions, entries }: MessageOptions = {}): Encode {
  const extension = extensions === undefined ? undefined : named(extensions, anyValue)
  return (writer, value: JsonObject) => {
    const names = Object.keys(value)
    for (let at = names.length - 1; at >= 0; at -= 1) {
      const name = names[at] as string
      const member = value[name]
      // Names of properties are anybody's.
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (field !== undefined) {
        field(writer, member as never)
        continue
      }
      const other = name.startsWith('x-') && extension !== undefined ? extension : entries
      if (other === undefined) throw new Error(`OpenAPI member without a protobuf field: ${name}`)
      other(writer, [name, member] as never)
    }
  }
}

/** Any value at all travels as YAML, set in blocks as gnostic does. */
const anyValue: Encode = (writer, value: unknown) => writer.text(2, `${yamlOf(value, '')}\n`)

/** `indent` stands before all lines but the first. */
function yamlOf(value: unknown, indent: string): string {
  if (!isBlock(value)) return yamlScalar(value)
  if (isJsonList(value)) return value.map((item) => `- ${yamlOf(item, `${indent}  `)}`).join(`\n${indent}`)
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => {
      const inner = `${indent}    `
      return `${yamlScalar(key)}:${isBlock(member) ? `\n${inner}` : ' '}${yamlOf(member, inner)}`
    })
    .join(`\n${indent}`)
}

const isJsonList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

const isBlock = (value: unknown): value is JsonObject | readonly unknown[] =>
  Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0

/** A text stands as it is where nobody takes it for anything else; YAML reads what JSON has, too. */
const yamlScalar = (value: unknown): string =>
  typeof value === 'string' && plainText.test(value) && !otherThanText.test(value) ? value : JSON.stringify(value)

const plainText = /^[A-Za-z/][\w./,-]*$/
const otherThanText = /^(?:true|false|null|yes|no|on|off|y|n)$/i

/** A message that holds the value in one field, as gnostic does for what may be of several types. */
const held = (number: number, encode: Encode): Encode => one(number, encode)

const typeItem: Encode = text(1)

// Schemas hold schemas: each is looked up when it is needed.
const schemaMessage: Encode = (writer, value) => schemaFields(writer, value)
const schemaMap = message({}, { entries: named(1, schemaMessage) })
const schemaOrFlag: Encode = (writer, value: JsonObject | boolean) =>
  (typeof value === 'boolean' ? flag(2) : held(1, schemaMessage))(writer, value as never)
const externalDocs = message({ description: text(1), url: text(2) })
const schemaFields = message(
  {
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: one(5, anyValue),
    multipleOf: double(6),
    maximum: double(7),
    exclusiveMaximum: flag(8),
    minimum: double(9),
    exclusiveMinimum: flag(10),
    maxLength: integer(11),
    minLength: integer(12),
    pattern: text(13),
    maxItems: integer(14),
    minItems: integer(15),
    uniqueItems: flag(16),
    maxProperties: integer(17),
    minProperties: integer(18),
    required: texts(19),
    enum: many(20, anyValue),
    additionalProperties: one(21, schemaOrFlag),
    type: one(22, typeItem),
    items: one(23, held(1, schemaMessage)),
    allOf: many(24, schemaMessage),
    properties: one(25, schemaMap),
    externalDocs: one(29, externalDocs),
    example: one(30, anyValue),
  },
  { extensions: 31 },
)

const bodyParameter = message({
  description: text(1),
  name: text(2),
  in: text(3),
  required: flag(4),
  schema: one(5, schemaMessage),
})
const queryParameter = message({
  required: flag(1),
  in: text(2),
  description: text(3),
  name: text(4),
  type: text(6),
  uniqueItems: flag(20),
})
const pathParameter = message({
  required: flag(1),
  in: text(2),
  description: text(3),
  name: text(4),
  type: text(5),
  uniqueItems: flag(19),
})

const parameterForms = {
  body: held(1, bodyParameter),
  query: held(2, held(3, queryParameter)),
  path: held(2, held(4, pathParameter)),
}

const parameter: Encode = one(1, (writer, value: JsonObject) =>
  parameterForms[value.in as keyof typeof parameterForms](writer, value as never),
)

const response = message({ description: text(1), schema: one(2, held(1, schemaMessage)) })
const responses = message({}, { entries: named(1, held(1, response)) })
const securityRequirement = message({}, { entries: named(1, texts(1)) })

const operation = message(
  {
    tags: texts(1),
    summary: text(2),
    description: text(3),
    operationId: text(5),
    produces: texts(6),
    consumes: texts(7),
    parameters: many(8, parameter),
    responses: one(9, responses),
    schemes: texts(10),
    deprecated: flag(11),
  },
  { extensions: 13 },
)

const pathItem = message(
  {
    get: one(2, operation),
    put: one(3, operation),
    post: one(4, operation),
    delete: one(5, operation),
    options: one(6, operation),
    head: one(7, operation),
    patch: one(8, operation),
    parameters: many(9, parameter),
  },
  { extensions: 10 },
)

const apiKeySecurity = message({ type: text(1), name: text(2), in: text(3), description: text(4) })

const documentMessage = message(
  {
    swagger: text(1),
    info: one(2, message({ title: text(1), version: text(2), description: text(3) })),
    paths: one(8, message({}, { entries: named(2, pathItem) })),
    definitions: one(9, schemaMap),
    security: many(12, securityRequirement),
    securityDefinitions: one(13, message({}, { entries: named(1, held(2, apiKeySecurity)) })),
  },
  { extensions: 16 },
)
