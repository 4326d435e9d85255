import { expect, it } from 'vitest'
import { describeFieldError } from '../field-error.ts'
import { scaleErrors } from './scale-errors.ts'

const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.s' }

// As the apiextensions server 1.36.4 answers.
it.each<[unknown, readonly string[]]>([
  [{}, []],
  [{ spec: { n: 1 }, status: { n: 0, s: 'a=b' } }, []],
  [{ spec: { n: -1 } }, ['.spec.n: Invalid value: -1: should be a non-negative integer']],
  [{ status: { n: 2 ** 31 } }, ['.status.n: Invalid value: 2147483648: should be less than or equal to 2147483647']],
  [
    { spec: { n: 'x' } },
    ['.spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected int64'],
  ],
  [
    { spec: { n: 1.5 } },
    ['.spec.n: Invalid value: 0: .spec.n accessor error: 1.5 is of the type float64, expected int64'],
  ],
  [
    { spec: [1] },
    [
      '.spec.n: Invalid value: 0: .spec accessor error: [1] is of the type []interface {}, expected map[string]interface {}',
    ],
  ],
  [
    { status: { s: 5 } },
    ['.status.s: Invalid value: "": .status.s accessor error: 5 is of the type int64, expected string'],
  ],
])('says of the counts in %j what is wrong with them', (object, expected) => {
  expect(scaleErrors(scale, object, 'whole').map(describeFieldError)).toEqual(expected)
})

it('says of a status nothing about what is wanted', () => {
  expect(scaleErrors(scale, { spec: { n: -1 } }, 'status')).toEqual([])
})
