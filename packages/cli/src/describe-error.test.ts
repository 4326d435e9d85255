import { ApiError, notFound } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { CliError } from './cli-error.ts'
import { describeError, whileDoing } from './describe-error.ts'

const invalid = (...causes: { field: string; message: string }[]) =>
  new ApiError(422, 'Invalid', 'Pod "x" is invalid', { name: 'x', kind: 'Pod', causes })

describe('describeError', () => {
  it.each<[string, unknown, string]>([
    ['a refusal', notFound({ group: '', plural: 'pods' }, 'x'), 'Error from server (NotFound): pods "x" not found'],
    ['a refusal without a reason', new ApiError(500, 'Unknown', 'oops'), 'Error from server: oops'],
    ['a mistake of the user', new CliError('no such file'), 'error: no such file'],
    [
      'one field at fault',
      invalid({ field: 'spec', message: 'Required value' }),
      'The Pod "x" is invalid: spec: Required value',
    ],
    [
      'several fields at fault',
      invalid({ field: 'a', message: 'Required value' }, { field: 'b', message: 'Forbidden: no' }),
      'The Pod "x" is invalid: \n* a: Required value\n* b: Forbidden: no',
    ],
    ['several errors', new AggregateError([new CliError('a'), new CliError('b')]), 'a\nb'],
    ['one of several that is all', new AggregateError([new CliError('a')]), 'error: a'],
  ])('shows %s', (_, error, expected) => {
    expect(describeError(error)).toBe(expected)
  })

  it('says what was being done', () => {
    const error = whileDoing('error when creating "x.yaml"', notFound({ group: '', plural: 'pods' }, 'x'))
    expect(describeError(error)).toBe('Error from server (NotFound): error when creating "x.yaml": pods "x" not found')
  })
})
