import { describe, expect, it } from 'vitest'
import { findJsonPath, printJsonPath } from './evaluate-jsonpath.ts'
import { parseJsonPath } from './parse-jsonpath.ts'

const pods = {
  kind: 'List',
  items: [
    {
      metadata: { name: 'web-1', labels: { app: 'web', 'example.com/tier': 'front' } },
      spec: { priority: 5, containers: [{ name: 'a', image: 'x' }, { name: 'b' }] },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    },
    {
      metadata: { name: 'db-0', labels: { app: 'db' } },
      spec: { priority: 10, hostNetwork: true, containers: [{ name: 'c', image: 'y' }] },
    },
  ],
}

const print = (template: string, value: unknown = pods) => printJsonPath(parseJsonPath(template), value)

describe('a template', () => {
  it.each([
    ['{.kind}', 'List'],
    ['{$.kind}{"\\n"}', 'List\n'],
    ['plain text', 'plain text'],
    ['a {.kind}, b {.kind}', 'a List, b List'],
    ['{.items[*].metadata.name}', 'web-1 db-0'],
    ['{.items[0].metadata.name}', 'web-1'],
    ['{.items[-1].metadata.name}', 'db-0'],
    ['{.items[-1:].metadata.name}', 'db-0'],
    ['{.items[0:1].metadata.name}', 'web-1'],
    ['{.items[1:].metadata.name}', 'db-0'],
    ['{.items[::2].metadata.name}', 'web-1'],
    ['{.items[0,1].metadata.name}', 'web-1 db-0'],
    ["{.items[1]['metadata.name','spec.priority']}", 'db-0 10'],
    ['{.items[0].metadata.labels}', '{"app":"web","example.com/tier":"front"}'],
    ['{.items[0].metadata.labels.example\\.com/tier}', 'front'],
    ["{.items[0].metadata.labels['example\\.com/tier']}", 'front'],
    ['{.items[0].metadata.labels.*}', 'web front'],
    ['{..image}', 'x y'],
    ['{.items[0].metadata.labels..}', '{"app":"web","example.com/tier":"front"} web front'],
    ['{.items[].metadata.name}', 'web-1'],
    ['{.items[*].spec.containers[*].name}', 'a b c'],
    ['{range .items[*]}{.metadata.name}{"\\t"}{.spec.priority}{"\\n"}{end}', 'web-1\t5\ndb-0\t10\n'],
    ['{range .items[*]}{range .spec.containers[*]}{.name},{end};{end}', 'a,b,;c,;'],
    ['{range .items[*]}[{.metadata.name}]', '[web-1][db-0]'],
    ['{range .nothing[*]}x{end}y', 'y'],
    ['{.nothing.at.all}', ''],
    ["{'quoted'}{\"it's\"}", "quotedit's"],
  ])('%s', (template, expected) => {
    expect(print(template)).toBe(expected)
  })

  it.each([
    ['{.items[?(@.metadata.name=="db-0")].spec.priority}', '10'],
    ["{.items[?(@.metadata.name!='db-0')].metadata.name}", 'web-1'],
    ['{.items[?(@.spec.priority>5)].metadata.name}', 'db-0'],
    ['{.items[?(@.spec.priority >= 5)].metadata.name}', 'web-1 db-0'],
    ['{.items[?(@.spec.priority<10)].metadata.name}', 'web-1'],
    ['{.items[?(@.spec.hostNetwork==true)].metadata.name}', 'db-0'],
    ['{.items[?(@.spec.hostNetwork)].metadata.name}', 'db-0'],
    ['{.items[*].status.conditions[?(@.type=="Ready")].status}', 'True'],
    ['{.items[?(@.metadata.name=="a)b")].kind}', ''],
  ])('filters: %s', (template, expected) => {
    expect(print(template)).toBe(expected)
  })

  it('compares whole numbers of 64 bits', () => {
    const items = { a: [{ n: 2n ** 60n + 1n }, { n: 1 }, { n: 2n ** 62n }] }
    expect(print('{.a[?(@.n>5)].n}', items)).toBe('1152921504606846977 4611686018427387904')
    expect(print('{.a[?(@.n<4000000000000000000)].n}', items)).toBe('1152921504606846977 1')
  })

  it('writes objects as Go does, with what means something in HTML escaped', () => {
    expect(print('{.a}', { a: { z: '<&>', b: [1, null] } })).toBe('{"b":[1,null],"z":"\\u003c\\u0026\\u003e"}')
  })

  it('tells apart what each action finds', () => {
    expect(findJsonPath(parseJsonPath('{.items[*].spec.priority}{.kind}'), pods)).toEqual([[5, 10], ['List']])
  })
})

describe('a mistake', () => {
  it.each([
    ['{.kind', 'unclosed action'],
    ['{kind}', 'unrecognized identifier kind'],
    ['{end}', 'not in range, nothing to end'],
    ['{.items[x]}', 'invalid array index x'],
    ['{.items[-]}', 'array index - is not a number'],
    ['{.items[1:-]}', 'array index - is not a number'],
    ['{.items[0}', 'unterminated array'],
    ['{#}', "unrecognized character in action: U+0023 '#'"],
    ['{"open}', 'unterminated quoted string'],
    ['{.items[?(@.a==1}', 'unterminated filter'],
    ['{....a}', 'invalid multiple recursive descent'],
  ])('is told when the template is read: %s', (template, message) => {
    expect(() => parseJsonPath(template)).toThrow(message)
  })

  it.each([
    ['{.items[5]}', 'array index out of bounds: index 5, length 2'],
    ['{.items[1:0]}', 'starting index 1 is greater than ending index 0'],
    ['{.items[0:2:-1]}', 'step must be > 0'],
    ['{.kind[0]}', 'string is not array or slice'],
    ['{.items[?(@.spec.priority=="5")]}', 'incompatible types for comparison'],
    ['{.items[?(@..name=="5")]}', 'can only compare one element at a time'],
  ])('is told when it meets values: %s', (template, message) => {
    expect(() => print(template)).toThrow(message)
  })

  it('is a missing field only where fields are required', () => {
    expect(() => printJsonPath(parseJsonPath('{.nothing}'), pods, { requireKeys: true })).toThrow(
      'nothing is not found',
    )
  })
})
