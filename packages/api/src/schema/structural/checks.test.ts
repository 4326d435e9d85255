import { expect, it } from 'vitest'
import { readCustomSchema } from '../../custom/index.ts'
import { FieldPath } from '../../field-path.ts'
import { compile } from '../compile.ts'

it('tells what is wrong with very many elements by several alternatives', () => {
  const rules = ['^b', '^c', '^d'].map((pattern) => ({ items: { pattern } }))
  const list = { type: 'array', items: { type: 'string' }, anyOf: [{ allOf: rules }] }
  const spec = { type: 'object', properties: { list } }
  const names = { group: 'example.com', version: 'v1', kind: 'Crate' }
  const { schema } = readCustomSchema({ type: 'object', properties: { spec } }, FieldPath.root, names)
  const count = 60_000
  const object = {
    apiVersion: 'example.com/v1',
    kind: 'Crate',
    metadata: { name: 'a' },
    spec: { list: Array.from({ length: count }, () => 'a') },
  }
  // Each element by each rule, that not all rules hold, and that no alternative does.
  expect(compile(schema).validate(object as never)).toHaveLength(3 * count + 2)
})
