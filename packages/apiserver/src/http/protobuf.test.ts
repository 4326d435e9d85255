import {
  builtinResources,
  configMapSchema,
  configMaps,
  deleteOptionsSchema,
  leaseSchema,
  pods,
  secretSchema,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { decodeProtobuf, hasProtobufFields } from './protobuf.ts'
import { protobufFields } from './protobuf-fields.ts'

/** A message as upstream's clients write it: fields with their numbers, in an envelope with kind and version. */
const varint = (value: number): Buffer => {
  const bytes: number[] = []
  let left = BigInt.asUintN(64, BigInt(value))
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128)
  return Buffer.from([...bytes, Number(left)])
}
const bytes = (number: number, content: Buffer | string): Buffer => {
  const body = Buffer.from(content)
  return Buffer.concat([varint(number * 8 + 2), varint(body.length), body])
}
const integer = (number: number, value: number): Buffer => Buffer.concat([varint(number * 8), varint(value)])
const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields)
const enveloped = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  message(Buffer.from('k8s\0'), bytes(1, message(bytes(1, apiVersion), bytes(2, kind))), bytes(2, raw), bytes(3, ''))

describe('decodeProtobuf', () => {
  it('reads what kubectl create configmap sends', () => {
    // As kubectl 1.35 writes `create cm c1 --from-literal=a=b`: empty strings and zero times are there.
    const hex =
      '6b3873000a0f0a0276311209436f6e6669674d6170121c0a120a02633112001a0022002a00320038004200' +
      '12060a01611201621a002200'
    expect(decodeProtobuf(configMapSchema, Buffer.from(hex, 'hex'))).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c1', generation: 0 },
      data: { a: 'b' },
    })
  })

  it('reads bytes as base64, and keeps empty values of maps', () => {
    const entry = (key: string, value: string) => bytes(2, message(bytes(1, key), bytes(2, value)))
    const raw = message(entry('a', 'plain'), entry('empty', ''), entry('__proto__', 'x'), bytes(3, 'Opaque'))
    const { data, type } = decodeProtobuf(secretSchema, enveloped('v1', 'Secret', raw)) as Record<string, object>
    expect(type).toBe('Opaque')
    expect(Object.entries(data ?? {})).toEqual([
      ['a', Buffer.from('plain').toString('base64')],
      ['empty', ''],
      ['__proto__', Buffer.from('x').toString('base64')],
    ])
  })

  it('reads times, integers and lists', () => {
    const time = message(integer(1, 1_767_225_600), integer(2, 123_456_000))
    const owner = message(bytes(1, 'Pod'), bytes(3, 'p'), bytes(4, 'u'), bytes(5, 'v1'), integer(6, 1))
    const raw = message(
      bytes(1, message(bytes(1, 'l'), bytes(13, owner), bytes(14, 'f1'), bytes(14, 'f2'), bytes(8, time))),
      bytes(2, message(bytes(1, 'me'), integer(2, 15), bytes(4, time), integer(5, -1))),
    )
    expect(decodeProtobuf(leaseSchema, enveloped('coordination.k8s.io/v1', 'Lease', raw))).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'l',
        ownerReferences: [{ kind: 'Pod', name: 'p', uid: 'u', apiVersion: 'v1', controller: true }],
        finalizers: ['f1', 'f2'],
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        renewTime: '2026-01-01T00:00:00.123456Z',
        leaseTransitions: -1,
      },
    })
  })

  it('passes over fields it does not know', () => {
    const raw = message(bytes(99, 'x'), integer(98, 1), bytes(4, 'Orphan'))
    expect(decodeProtobuf(deleteOptionsSchema, enveloped('v1', 'DeleteOptions', raw))).toMatchObject({
      propagationPolicy: 'Orphan',
    })
  })

  it.each([
    ['no mark', Buffer.from('{"kind":"ConfigMap"}'), 'does not appear to be a protobuf message'],
    ['half a message', enveloped('v1', 'ConfigMap', bytes(1, 'metadata').subarray(0, 4)), 'unexpected EOF'],
    ['an integer for a message', enveloped('v1', 'ConfigMap', integer(1, 5)), 'wrong wireType = 0'],
    ['an unknown wire type', enveloped('v1', 'ConfigMap', varint(1 * 8 + 7)), 'illegal wireType 7'],
  ])('refuses %s', (_, body, why) => {
    expect(() => decodeProtobuf(configMapSchema, body)).toThrow(why)
  })
})

describe('protobufFields', () => {
  it('gives no number twice', () => {
    for (const fields of Object.values(protobufFields)) {
      expect(new Set(Object.values(fields)).size).toBe(Object.keys(fields).length)
    }
  })

  it('covers a kind whole or not at all', () => {
    expect(hasProtobufFields(configMaps.schema)).toBe(true)
    expect(hasProtobufFields(pods.schema)).toBe(false)
    const covered = builtinResources.filter(({ schema }) => hasProtobufFields(schema)).map(({ plural }) => plural)
    expect(covered).toEqual(['configmaps', 'events', 'namespaces', 'secrets', 'serviceaccounts', 'leases'])
  })
})
