import { compile, deployments, type ObjectSchema, pods } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRepeated } from './repeated-fields.ts'

const pod = pods.schema as ObjectSchema
const parse = (text: string) => parseRepeated(text, pod)

describe('a field that occurs twice', () => {
  it.each([
    ['a simple value', '{"kind":"A","kind":"B"}', { kind: 'B' }],
    ['an object', '{"metadata":{"name":"a","uid":"u"},"metadata":{"name":"b"}}', { metadata: { name: 'b', uid: 'u' } }],
    [
      'a map',
      '{"metadata":{"labels":{"a":"1","b":"1"},"labels":{"b":"2"}}}',
      { metadata: { labels: { a: '1', b: '2' } } },
    ],
    [
      'a list, as long as the second',
      '{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b"}],"containers":[{"image":"j"}]}}',
      { spec: { containers: [{ name: 'a', image: 'j' }] } },
    ],
    ['what is of another type', '{"metadata":{"name":"a"},"metadata":5}', { metadata: 5 }],
    ['nothing, which leaves a struct', '{"metadata":{"name":"a"},"metadata":null}', { metadata: { name: 'a' } }],
    ['nothing, which leaves a text', '{"spec":{"hostname":"a"},"spec":{"hostname":null}}', { spec: { hostname: 'a' } }],
    [
      'nothing, which empties a pointer, a list, a map and a time',
      '{"metadata":{"labels":{"a":"b"},"labels":null,"deletionGracePeriodSeconds":1,"deletionGracePeriodSeconds":null,"creationTimestamp":"2020-01-01T00:00:00Z","creationTimestamp":null},"spec":{"containers":[],"containers":null,"securityContext":{},"securityContext":null}}',
      {
        metadata: { labels: null, deletionGracePeriodSeconds: null, creationTimestamp: null },
        spec: { containers: null, securityContext: null },
      },
    ],
    [
      'nothing, in a list of structs and in a list of texts',
      '{"spec":{"containers":[{"name":"a","args":["a","b"]}],"containers":[null,null]},"metadata":{"finalizers":["a"],"finalizers":[null]}}',
      { spec: { containers: [{ name: 'a', args: ['a', 'b'] }, null] }, metadata: { finalizers: ['a'] } },
    ],
    [
      'nothing, which leaves of a port its number',
      '{"spec":{"containers":[{"livenessProbe":{"tcpSocket":{"port":80,"port":null},"httpGet":{"port":"web","port":null}}}]}}',
      { spec: { containers: [{ livenessProbe: { tcpSocket: { port: 80 }, httpGet: { port: 0 } } }] } },
    ],
    ['nothing, in a map', '{"metadata":{"labels":{"a":"b","a":null}}}', { metadata: { labels: { a: null } } }],
    ['a field of no struct', '{"unknown":{"a":1},"unknown":{"b":2}}', { unknown: { b: 2 } }],
    ['objects that hold it again', '{"spec":{"a":1},"spec":{"a":2,"a":3}}', { spec: { a: 3 } }],
    ['a name like no other', '{"__proto__":{"a":1},"__proto__":2}', JSON.parse('{"__proto__":2}')],
  ])('is read into what is there: %s', (_, text, expected) => {
    expect(parse(text)).toEqual(expected)
  })

  it('leaves all other JSON as it is', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  it('keeps numbers as they are written', () => {
    const text = '{"metadata":{"generation":9007199254740993},"spec":{"priority":1.0}}'
    expect(JSON.stringify(parse(text))).toBe(text)
  })

  it('takes time in proportion to the text, however often it occurs', () => {
    const labels = Array.from({ length: 50_000 }, (_, index) => `"l${index}":""`).join(',')
    const again = Array.from({ length: 50_000 }, () => '"metadata":{"labels":{"a":"b"}}').join(',')
    const value = parse(`{"metadata":{"labels":{${labels}}},${again}}`) as { metadata: { labels: object } }
    expect(Object.keys(value.metadata.labels)).toHaveLength(50_001)
  })

  it('gives what decodes as an object of the kind', () => {
    const text = '{"metadata":{"name":"a"},"spec":{"replicas":2},"spec":{"paused":true}}'
    const { value } = compile(deployments.schema).decode(parseRepeated(text, deployments.schema))
    expect(value).toMatchObject({ spec: { replicas: 2, paused: true } })
  })
})
