import { expect, it } from 'vitest'
import { humanDuration } from './human-duration.ts'

const s = 1000
const m = 60 * s
const h = 60 * m
const d = 24 * h

it.each([
  [-3 * s, '<invalid>'],
  [-1 * s, '0s'],
  [0, '0s'],
  [1999, '1s'],
  [119 * s, '119s'],
  [2 * m, '2m'],
  [3 * m + 20 * s, '3m20s'],
  [10 * m + 5 * s, '10m'],
  [179 * m, '179m'],
  [3 * h, '3h'],
  [7 * h + 30 * m, '7h30m'],
  [8 * h + 59 * m, '8h'],
  [47 * h, '47h'],
  [2 * d, '2d'],
  [2 * d + 5 * h, '2d5h'],
  [8 * d + 5 * h, '8d'],
  [729 * d, '729d'],
  [2 * 365 * d, '2y'],
  [2 * 365 * d + 10 * d, '2y10d'],
  [8 * 365 * d + 10 * d, '8y'],
])('shows %d ms as %s', (ms, text) => {
  expect(humanDuration(ms)).toBe(text)
})
