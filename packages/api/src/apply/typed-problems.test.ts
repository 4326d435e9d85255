import { describe, expect, it } from 'vitest'
import { customResourceDefinitions } from '../kinds/apiextensions/custom-resource-definition.ts'
import { bytes, double, intOrString, mapList, object, optional, setList, string } from '../schema/builders.ts'
import { typedProblems } from './typed-problems.ts'

const { schema } = customResourceDefinitions
const meta = (more: object) => ({ metadata: { name: 'a', ...more } })
const version = (more: object) => ({ spec: { versions: [{ name: 'v1', ...more }] } })
const inVersion = '.spec.versions[0]'

describe('what is wrong with a configuration, as the server of 1.36.4 says it', () => {
  it.each<[object, string]>([
    [{ metadata: 1 }, '.metadata: expected map, got &{1}'],
    [{ metadata: [] }, '.metadata: expected map, got &{[]}'],
    [meta({ name: 1 }), '.metadata.name: expected string, got &value.valueUnstructured{Value:1}'],
    [meta({ labels: { a: true } }), '.metadata.labels.a: expected string, got &value.valueUnstructured{Value:true}'],
    [
      meta({ labels: { a: { b: [1, 'x', null] } } }),
      '.metadata.labels.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"b":[]interface {}{1, "x", interface {}(nil)}}}',
    ],
    [{ nosuch: 1 }, '.nosuch: field not declared in schema'],
    [{ spec: { versions: {} } }, '.spec.versions: expected list, got &{map[]}'],
    [version({ served: 'yes' }), `${inVersion}.served: expected boolean, got &{yes}`],
    [version({ served: { a: 'b' } }), `${inVersion}.served: expected boolean, got &{map[a:b]}`],
    [meta({ generation: 'x' }), '.metadata.generation: expected numeric (int or float), got string'],
    [meta({ generation: true }), '.metadata.generation: expected numeric (int or float), got bool'],
    [meta({ generation: [] }), '.metadata.generation: expected numeric (int or float), got []interface {}'],
    [
      meta({ generation: { a: 1 } }),
      '.metadata.generation: expected numeric (int or float), got map[string]interface {}',
    ],
    [meta({ creationTimestamp: {} }), '.metadata.creationTimestamp: expected any scalar, got &{map[]}'],
    [meta({ finalizers: ['a', 'a'] }), '.metadata.finalizers: duplicate entries for key [="a"]'],
    [meta({ finalizers: 'a' }), '.metadata.finalizers: expected list, got &{a}'],
    [
      meta({ ownerReferences: [{ uid: 'x' }, { uid: 'x' }] }),
      '.metadata.ownerReferences: duplicate entries for key [uid="x"]',
    ],
    [
      meta({ ownerReferences: ['x'] }),
      '.metadata.ownerReferences: element 0: associative list with keys may not have non-map elements',
    ],
  ])('%j', (value, problem) => {
    expect(typedProblems(schema, value)).toBe(problem)
  })

  it('tells several below each other', () => {
    expect(typedProblems(schema, { ...meta({ name: 1 }), nosuch: 1 })).toBe(
      'errors:\n  .metadata.name: expected string, got &value.valueUnstructured{Value:1}\n  .nosuch: field not declared in schema',
    )
  })

  it.each([
    [{}],
    [{ metadata: null, spec: null }],
    [meta({ labels: null, creationTimestamp: 5, generation: 1.5 })],
    [version({ served: true, schema: { openAPIV3Schema: { default: [1], maximum: 2.5 } } })],
  ])('takes %j', (value) => {
    expect(typedProblems(schema, value)).toBeUndefined()
  })

  it('stops at a hundred', () => {
    const labels = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`l${index}`, index]))
    expect(typedProblems(schema, meta({ labels }))?.split('\n')).toHaveLength(101)
  })
})

describe('what is wrong with a value of a type', () => {
  const item = object('', '', { name: optional(string(), ''), value: optional(string(), '') })
  const typed = object('', '', {
    share: optional(double(), ''),
    port: optional(intOrString, ''),
    secret: optional(bytes, ''),
    tags: optional(setList(string()), ''),
    items: optional(mapList(item, ['name']), ''),
  })

  it.each<[unknown, string]>([
    [1, 'expected map, got &{1}'],
    [{ share: 'x' }, '.share: expected numeric (int or float), got string'],
    [{ secret: 1 }, '.secret: expected string, got &value.valueUnstructured{Value:1}'],
    [
      { secret: { b: 1, a: [1, 'x'] } },
      '.secret: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{1, "x"}, "b":1}}',
    ],
    [{ port: {} }, '.port: expected any scalar, got &{map[]}'],
    [
      { z: 1, b: 1, a: 1 },
      'errors:\n  .a: field not declared in schema\n  .b: field not declared in schema\n  .z: field not declared in schema',
    ],
    // What follows an element that nobody can tell apart is not looked at.
    [
      { items: [{ name: 'a', value: 1 }, 5, { name: 'b', value: 1 }] },
      'errors:\n  .items[name="a"].value: expected string, got &value.valueUnstructured{Value:1}\n  .items: element 1: associative list with keys may not have non-map elements',
    ],
    [{ items: [null] }, '.items: element 0: associative list with keys may not have a null element'],
    [{ tags: ['a', null] }, ".tags: element 1: associative list without keys has an element that's an explicit null"],
    [{ tags: [['a']] }, '.tags: element 0: not supported: associative list with lists as elements'],
    [{ tags: [{}] }, ".tags: element 0: associative list without keys has an element that's a map type"],
  ])('%j', (value, problem) => expect(typedProblems(typed, value)).toBe(problem))

  it.each([[{ share: 1.5, port: 80, secret: 'eA==' }], [{ port: 'http', tags: ['a', 'b'] }]])('takes %j', (value) =>
    expect(typedProblems(typed, value)).toBeUndefined(),
  )

  it('takes no sets of objects, though the schema has them', () => {
    const schema = object('', '', { points: optional(setList(object('', '', { x: optional(double(), '') })), '') })
    expect(typedProblems(schema, { points: [{ x: 1 }, { x: 2 }] })).toBe(
      ".points: element 0: associative list without keys has an element that's a map type",
    )
  })

  it('takes what a custom resource keeps without a description', () => {
    const keeping = { ...typed, preserveUnknownFields: true as const }
    expect(typedProblems(keeping, { whatever: [{ a: 1 }] })).toBeUndefined()
  })
})
