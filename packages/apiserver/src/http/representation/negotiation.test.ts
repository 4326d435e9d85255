import { describe, expect, it } from 'vitest'
import { negotiate } from './negotiation.ts'

const table = { format: 'json', as: 'Table', metaVersion: 'v1' }

describe('negotiate', () => {
  it.each([
    [undefined, { format: 'json', metaVersion: 'v1' }],
    ['*/*', { format: 'json', metaVersion: 'v1' }],
    ['application/*', { format: 'json', metaVersion: 'v1' }],
    ['application/yaml', { format: 'yaml', metaVersion: 'v1' }],
    ['application/json;q=0.5, application/yaml', { format: 'yaml', metaVersion: 'v1' }],
    ['application/vnd.kubernetes.protobuf,application/json', { format: 'json', metaVersion: 'v1' }],
    ['application/json;stream=watch', { format: 'json', metaVersion: 'v1' }],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', table],
    ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', { ...table, metaVersion: 'v1beta1' }],
    // A form nobody knows is passed over for the next.
    ['application/json;as=Chart;v=v1;g=meta.k8s.io,application/json', { format: 'json', metaVersion: 'v1' }],
    [
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      { format: 'json', as: 'PartialObjectMetadataList', metaVersion: 'v1' },
    ],
  ])('gives %s what it asks for', (accept, expected) => {
    expect(negotiate(accept)).toEqual(expected)
  })

  it.each(['application/vnd.kubernetes.protobuf', 'application/cbor', 'text/html'])('refuses %s alone', (accept) => {
    expect(() => negotiate(accept)).toThrow(
      expect.objectContaining({
        code: 406,
        reason: 'NotAcceptable',
        message: 'only the following media types are accepted: application/json, application/yaml',
      }),
    )
  })
})
