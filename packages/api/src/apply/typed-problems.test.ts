import { describe, expect, it } from 'vitest'
import { customResourceDefinitions } from '../kinds/apiextensions/custom-resource-definition.ts'
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
