import {
  apiVersionOf,
  builtinResources,
  configMapSchema,
  type ObjectSchema,
  partialObjectMetadataListSchema,
  partialObjectMetadataSchema,
  podSchema,
  resolveSchema,
  scaleSchema,
  statusSchema,
  subjectAccessReviewSchema,
  unstoredResources,
} from '@coracle/api'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasProtobufFields } from './protobuf.ts'
import { decodeProtobuf, openProtobuf } from './protobuf-decode.ts'
import { encloseProtobuf, encodeHeld, encodeProtobuf, encodeWatchEvent } from './protobuf-encode.ts'
import { type ProtobufField, protobufFieldsOf } from './protobuf-messages.ts'
import { WireReader } from './protobuf-wire.ts'
import { WireWriter } from './protobuf-writer.ts'
import upstream from './testing/upstream-protobuf.json' with { type: 'json' }
import { wireTypes } from './wire-types.ts'

interface TypedValue {
  readonly apiVersion: string
  readonly kind: string
}

const builtinReviewSchemas = unstoredResources
  .filter(({ verbs }) => verbs.includes('create'))
  .map(({ schema }) => schema)

const encode = (value: TypedValue): Buffer =>
  encloseProtobuf(value.apiVersion, value.kind, encodeHeld(schemaOf(value), value))

function schemaOf({ apiVersion, kind }: TypedValue): ObjectSchema {
  const found =
    builtinResources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)?.schema ??
    { Scale: scaleSchema, Status: statusSchema }[kind] ??
    { PartialObjectMetadata: partialObjectMetadataSchema }[kind] ??
    { PartialObjectMetadataList: partialObjectMetadataListSchema }[kind]
  if (found === undefined) throw new Error(`no schema of ${kind}`)
  return found as ObjectSchema
}

describe('encodeProtobuf', () => {
  it.each(upstream.answers.map(({ json, protobuf }) => [json.kind, json as TypedValue, protobuf] as const))(
    'writes a %s as upstream does',
    (_kind, json, protobuf) => {
      const expected = Buffer.from(protobuf, 'base64')
      const written = encode(json)
      expect(fieldsIn(written)).toEqual(fieldsIn(expected))
      // Its bytes are those of the JSON, too.
      const { raw } = openProtobuf(written)
      expect(encodeProtobuf(schemaOf(json), decodeProtobuf(schemaOf(json), raw)).equals(raw)).toBe(true)
    },
  )

  it('gives a list that is the value of a map a message of its own', () => {
    const spec = { user: 'a', extra: { scopes: ['b', 'c'] } }
    const written = encodeProtobuf(subjectAccessReviewSchema, { spec })
    const extra = '2a10' + '0a0673636f706573' + '1206' + '0a0162' + '0a0163'
    expect(written.toString('hex')).toContain(extra)
    expect(decodeProtobuf(subjectAccessReviewSchema, written)).toMatchObject({ spec })
    expect(builtinReviewSchemas.every(hasProtobufFields)).toBe(true)
  })

  it('writes byte for byte what kubectl 1.35 sends', () => {
    const bodies = [
      [
        configMapSchema,
        '6b3873000a0f0a0276311209436f6e6669674d6170121c0a120a02633112001a0022002a0032003800420012060a01611201621a002200',
      ],
      [
        podSchema,
        '6b3873000a090a0276311203506f641282020a550a166e6f64652d64656275676765722d6e312d7070356e7412001a0022002a0032003800' +
          '42005a2d0a1c6170702e6b756265726e657465732e696f2f6d616e616765642d6279120d6b75626563746c2d64656275671293010a120a09' +
          '686f73742d726f6f7412050a030a012f12490a086465627567676572120762757379626f782a0042004a180a09686f73742d726f6f741000' +
          '1a052f686f7374220032006a0072007a021001800100880100900100a2010446696c651a054e65766572320042004a0052026e3158016001' +
          '68018201008a01009a0100b2010e0a0012064578697374731a002200c201001a130a001a0022002a0032004a005a0072008801001a002200',
      ],
    ] as const
    for (const [schema, hex] of bodies) {
      const { apiVersion, kind, raw } = openProtobuf(Buffer.from(hex, 'hex'))
      const value = decodeProtobuf(schema as ObjectSchema, raw)
      expect(encloseProtobuf(apiVersion, kind, encodeHeld(schema as ObjectSchema, value)).toString('hex')).toBe(hex)
    }
  })

  it('writes maps in the order of their keys', () => {
    const ordered = encodeProtobuf(configMapSchema as ObjectSchema, { data: { a: '1', b: '2' } })
    expect(encodeProtobuf(configMapSchema as ObjectSchema, { data: { b: '2', a: '1' } })).toEqual(ordered)
  })
})

it('encodeWatchEvent frames an event as upstream does', () => {
  const { json, protobuf } = upstream.watch
  const expected = Buffer.from(protobuf, 'base64')
  expect(encodeWatchEvent(json.type, eventObjectOf(expected))).toEqual(expected)
  expect(fieldsIn(encode(json.object))).toEqual(fieldsIn(eventObjectOf(expected)))
})

function eventObjectOf(frame: Buffer): Buffer {
  const reader = new WireReader(frame.subarray(4))
  let object: Buffer = Buffer.alloc(0)
  while (reader.next()) {
    if (reader.number === 1) reader.skip()
    else reader.message(() => (object = reader.bytes()))
  }
  return object
}

describe('a WireWriter', () => {
  it('writes integers that a reader reads', () => {
    const integer = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.nat(300))
    fc.assert(
      fc.property(integer, fc.integer({ min: 1, max: 2000 }), (value, number) => {
        const writer = new WireWriter()
        writer.integer(number, value)
        const reader = new WireReader(writer.finish())
        expect([reader.next(), reader.number, reader.int64(), reader.next()]).toEqual([true, number, value, false])
      }),
    )
  })

  it('writes texts of any length and script', () => {
    const writer = new WireWriter()
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.nat(40_000).map((length) => 'ä'.repeat(length)),
    )
    fc.assert(
      fc.property(text, (value) => {
        writer.text(1, value)
        const reader = new WireReader(writer.finish())
        expect([reader.next(), reader.text()]).toEqual([true, value])
      }),
    )
  })
})

/** Fields that Kubernetes has had since 1.20. They are no pointers, and written even where they are empty. */
const newer: ReadonlySet<string> = new Set([
  'ManagedFieldsEntry.subresource',
  'PodCondition.observedGeneration',
  'PodStatus.observedGeneration',
  'PodStatus.resize',
])

/** What an envelope says and its message holds, without what only one of Kubernetes 1.20 and this server has. */
function fieldsIn(bytes: Buffer): unknown {
  const { apiVersion, kind, raw } = openProtobuf(bytes)
  const schema = schemaOf({ apiVersion, kind })
  return [apiVersion, kind, fieldsOf(schema, protobufFieldsOf(schema.name) ?? [], raw)]
}

/** The fields of a message, in the order they are written. */
function fieldsOf(schema: ObjectSchema, fields: readonly ProtobufField[], raw: Buffer): readonly unknown[] {
  const message = schema.name.split('.').at(-1)
  const found: unknown[] = []
  const reader = new WireReader(raw)
  while (reader.next()) {
    const field = fields.find(({ number }) => number === reader.number)
    if (field !== undefined && 'embedded' in field) {
      found.push([field.number, fieldsOf(schema, field.embedded, reader.bytes())])
      continue
    }
    // `clusterName` is no more.
    if ((message === 'ObjectMeta' && reader.number === 15) || newer.has(`${message}.${field?.name}`)) {
      reader.skip()
      continue
    }
    const described = resolveSchema(schema.fields[field?.name ?? '']?.schema ?? { type: 'any', object: false })
    const element = described.type === 'list' ? resolveSchema(described.items) : described
    if (element.type === 'object') {
      found.push([field?.name, fieldsOf(element, protobufFieldsOf(element.name) ?? [], reader.bytes())])
    } else if (reader.wireType === wireTypes.varint) found.push([field?.name ?? reader.number, reader.int64()])
    else found.push([field?.name ?? reader.number, reader.bytes().toString('latin1')])
  }
  return found
}
