import { expect, it } from 'vitest'
import { FieldPath } from '../field-path.ts'
import type { Schema } from '../schema/schema.ts'
import { addStructuralDialect } from '../schema/structural/dialect.ts'
import { defaultErrors } from './default-errors.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'

addStructuralDialect()

const port: JsonSchemaProps = { 'x-kubernetes-int-or-string': true }
const whatever: Schema = { type: 'string' }

/** How often a schema is made of what a definition says, to check its defaults. */
function timesRead(props: JsonSchemaProps): number {
  let times = 0
  const schemaOf = (): Schema => {
    times += 1
    return whatever
  }
  defaultErrors({ type: 'object', properties: { a: props } }, FieldPath.of('s'), schemaOf)
  return times
}

it.each<[number, string, JsonSchemaProps]>([
  [0, 'no default', { type: 'object', properties: { port } }],
  [1, 'a default', { type: 'string', default: 'x' }],
  [1, 'a default of an object', { type: 'object', properties: { b: { type: 'string' } }, default: {} }],
  [2, 'a default of an int-or-string', { ...port, default: 1 }],
  [2, 'a default with one in a field', { type: 'object', properties: { port }, default: {} }],
  [2, 'a default with one in a list', { type: 'array', items: port, default: [] }],
  [2, 'a default with one in a map', { type: 'object', additionalProperties: port, default: {} }],
])('reads a schema %i times for %s', (times, _, props) => {
  expect(timesRead(props)).toBe(times)
})
