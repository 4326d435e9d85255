import { expect, it } from 'vitest'
import { versionsProblem } from './plugin-versions.ts'

it.each([
  ['a driver', ['1.0.0'], undefined],
  ['one that speaks other versions, too', ['0.3.0', '1.12.0'], undefined],
  ['one that says them as Go does', ['v1'], undefined],
  ['one that speaks none', [], 'CSI driver reporting empty array for supported versions'],
  [
    'one that speaks former ones',
    ['0.3.0', '10.0'],
    'none of the CSI versions ["0.3.0","10.0"] reported by this driver are supported',
  ],
])('%s', (_, versions, problem) => {
  expect(versionsProblem(versions)).toBe(problem)
})
