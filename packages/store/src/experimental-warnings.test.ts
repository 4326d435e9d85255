import { expect, it, vi } from 'vitest'
import { withoutExperimentalWarnings } from './experimental-warnings.ts'

it('keeps experimental warnings back, and no others', () => {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const result = withoutExperimentalWarnings(() => {
    process.emitWarning('not settled yet', 'ExperimentalWarning')
    process.emitWarning('not settled yet', { type: 'ExperimentalWarning' })
    process.emitWarning('old', 'DeprecationWarning')
    return 'result'
  })
  process.emitWarning('later', 'ExperimentalWarning')
  expect(result).toBe('result')
  expect(emitted.mock.calls).toEqual([
    ['old', 'DeprecationWarning'],
    ['later', 'ExperimentalWarning'],
  ])
  emitted.mockRestore()
})
