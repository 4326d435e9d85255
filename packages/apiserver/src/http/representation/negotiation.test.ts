import { describe, expect, it } from 'vitest'
import { negotiate } from './negotiation.ts'

const table = { format: 'json', as: 'Table', metaVersion: 'v1' }

describe('negotiate', () => {
  it.each([
    [undefined, { format: 'json', metaVersion: 'v1' }],
    ['*/*', { format: 'json', metaVersion: 'v1' }],
    ['application/*,application/json;q=0.1', { format: 'json', metaVersion: 'v1' }],
    ['application/yaml', { format: 'yaml', metaVersion: 'v1' }],
    ['application/json;q=0.5, application/yaml', { format: 'yaml', metaVersion: 'v1' }],
    ['application/vnd.kubernetes.protobuf,application/json', { format: 'protobuf', metaVersion: 'v1' }],
    ['application/vnd.kubernetes.protobuf;stream=watch', { format: 'protobuf', metaVersion: 'v1' }],
    // What names a type comes before what takes any.
    ['*/*,application/yaml', { format: 'yaml', metaVersion: 'v1' }],
    // Tables are not written in protobuf.
    [
      'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io',
      table,
    ],
    ['application/json;stream=watch', { format: 'json', metaVersion: 'v1' }],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', table],
    ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', { ...table, metaVersion: 'v1beta1' }],
    // A form nobody knows is passed over for the next.
    ['application/json;as=Chart;v=v1;g=meta.k8s.io,application/json', { format: 'json', metaVersion: 'v1' }],
    [
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      { format: 'protobuf', as: 'PartialObjectMetadataList', metaVersion: 'v1' },
    ],
  ])('gives %s what it asks for', (accept, expected) => {
    expect(negotiate(accept, 'builtin')).toEqual(expected)
  })

  it.each(['application/cbor', 'text/html', 'application/*', 'applicatio/json;q=1'])(
    'refuses %s alone as a route does',
    (accept) => {
      const refusal = expect.objectContaining({
        code: 406,
        reason: 'NotAcceptable',
        message:
          '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      })
      expect(() => negotiate(accept, 'builtin')).toThrow(refusal)
      expect(() => negotiate(accept, 'posted')).toThrow(refusal)
    },
  )

  it('refuses a stream that is not there, whose type the route lets pass', () => {
    expect(() => negotiate('application/yaml;stream=watch', 'builtin')).toThrow(notAcceptable)
  })

  it('remembers what clients say, and nothing that is longer', () => {
    const accept = 'application/yaml;q=0.9'
    expect(negotiate(accept, 'plain')).toBe(negotiate(accept, 'plain'))
    const padded = `${accept};a=${'b'.repeat(10_000)}`
    expect(negotiate(padded, 'plain')).not.toBe(negotiate(padded, 'plain'))
  })

  it('asks no route about custom kinds and Statuses', () => {
    expect(negotiate('application/*', 'custom')).toEqual({ format: 'json', metaVersion: 'v1' })
    expect(() => negotiate('text/html', 'custom')).toThrow(notAcceptable)
    expect(() => negotiate('text/html', 'plain')).toThrow(notAcceptable)
  })

  it('gives custom kinds in protobuf only their metadata', () => {
    const protobuf = 'application/vnd.kubernetes.protobuf'
    expect(() => negotiate(protobuf, 'custom')).toThrow(notAcceptable)
    expect(negotiate(`${protobuf},application/json`, 'custom')).toEqual({ format: 'json', metaVersion: 'v1' })
    const metadata = `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`
    expect(negotiate(metadata, 'custom')).toEqual({
      format: 'protobuf',
      as: 'PartialObjectMetadata',
      metaVersion: 'v1',
    })
  })

  it('gives no table of what is only posted and answered', () => {
    const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    expect(() => negotiate(asTable, 'posted')).toThrow(notAcceptable)
    expect(negotiate(`${asTable},application/json`, 'posted')).toEqual({ format: 'json', metaVersion: 'v1' })
    expect(negotiate('application/vnd.kubernetes.protobuf', 'posted')).toMatchObject({ format: 'protobuf' })
  })

  it('gives a Status in no other shape than its own', () => {
    const metadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
    expect(() => negotiate(metadata, 'plain')).toThrow(notAcceptable)
    expect(negotiate(`${metadata},application/yaml`, 'plain')).toEqual({ format: 'yaml', metaVersion: 'v1' })
  })
})

const notAcceptable = expect.objectContaining({
  code: 406,
  reason: 'NotAcceptable',
  message:
    'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
})
