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
    ['nothing', '{"metadata":{"name":"a"},"metadata":null}', { metadata: null }],
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
