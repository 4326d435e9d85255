import { statSync } from 'node:fs'
import { expect, it } from 'vitest'
import { codeOf } from './system-errors.ts'

it('errors of the system have a code', () => {
  let error: unknown
  try {
    statSync('/missing')
  } catch (cause) {
    error = cause
  }
  expect(codeOf(error)).toBe('ENOENT')
})

it.each([[new Error('no code')], [{ code: 'ENOENT' }], ['ENOENT'], [null], [undefined]])('%s has none', (error) => {
  expect(codeOf(error)).toBeUndefined()
})
