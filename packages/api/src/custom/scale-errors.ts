import { type FieldError, invalidField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { goText } from '../go-text.ts'
import { isJsonObject } from '../json.ts'
import type { CustomResourceScale } from '../kinds/apiextensions/custom-resource-definition-schema.ts'
import { fieldsOf } from './custom-columns.ts'

const int32Max = 2 ** 31 - 1

/** What is wrong with the counts in an object that can be scaled; of its status alone where only that is written. */
export function scaleErrors(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: CustomResourceScale,
  object: unknown,
  part: 'whole' | 'status',
): readonly FieldError[] {
  return [
    ...(part === 'whole' ? countErrors(specReplicasPath, object) : []),
    ...countErrors(statusReplicasPath, object),
    ...(labelSelectorPath === undefined ? [] : selectorErrors(labelSelectorPath, object)),
  ]
}

function countErrors(path: string, object: unknown): readonly FieldError[] {
  const found = nested(object, path)
  if (found === undefined) return []
  const at = FieldPath.of(path)
  const { value } = found
  const problem = found.problem ?? problemOf(value, 'int64', path)
  if (problem !== undefined) return [invalidField(at, 0, problem)]
  const count = Number(value)
  if (count < 0) return [invalidField(at, count, 'should be a non-negative integer')]
  return count > int32Max ? [invalidField(at, count, `should be less than or equal to ${int32Max}`)] : []
}

function selectorErrors(path: string, object: unknown): readonly FieldError[] {
  const found = nested(object, path)
  if (found === undefined) return []
  const problem = found.problem ?? problemOf(found.value, 'string', path)
  return problem === undefined ? [] : [invalidField(FieldPath.of(path), '', problem)]
}

/** The value at a path; the problem where something on the way is no object. Undefined where nothing is there. */
function nested(
  object: unknown,
  path: string,
): { readonly value: unknown; readonly problem: string | undefined } | undefined {
  let value: unknown = object
  let at = ''
  for (const field of fieldsOf(path)) {
    if (value === null) return undefined
    if (!isJsonObject(value)) return { value, problem: problemOf(value, 'map[string]interface {}', at) }
    if (!Object.hasOwn(value, field) || value[field] === undefined) return undefined
    value = value[field]
    at += `.${field}`
  }
  return { value, problem: undefined }
}

function problemOf(value: unknown, wanted: string, path: string): string | undefined {
  const type = goType(value)
  return type === wanted
    ? undefined
    : `${path} accessor error: ${goText(value)} is of the type ${type}, expected ${wanted}`
}

/** How Go calls the type of a value of JSON. */
function goType(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'int64' : 'float64'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'map[string]interface {}'
}
