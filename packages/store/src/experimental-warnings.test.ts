import { expect, it, vi } from 'vitest'
import { withoutExperimentalWarnings } from './experimental-warnings.ts'

it('keeps experimental warnings back, and no others', () => {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const result = withoutExperimentalWarnings(() => {
    process.emitWarning('not settled yet', 'ExperimentalWarning')
    process.emitWarning('not settled yet', { type: 'ExperimentalWarning' })
    process.emitWarning('old', 'DeprecationWarning')
    process.emitWarning('of no kind')
    process.emitWarning('of no kind', null as unknown as string)
    process.emitWarning('old', { code: 'OLD' })
    return 'result'
  })
  process.emitWarning('later', 'ExperimentalWarning')
  expect(result).toBe('result')
  expect(emitted.mock.calls).toEqual([
    ['old', 'DeprecationWarning'],
    ['of no kind'],
    ['of no kind', null],
    ['old', { code: 'OLD' }],
    ['later', 'ExperimentalWarning'],
  ])
  emitted.mockRestore()
})
