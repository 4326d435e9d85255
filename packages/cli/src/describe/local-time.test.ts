import { expect, it } from 'vitest'
import { formatLocalTime } from './local-time.ts'

it.each([
  ['2026-01-02T03:04:05Z', 'UTC', 'Fri, 02 Jan 2026 03:04:05 +0000'],
  ['2026-09-30T22:00:00Z', 'Europe/Berlin', 'Thu, 01 Oct 2026 00:00:00 +0200'],
  ['2026-09-01T00:00:00Z', 'Asia/Kolkata', 'Tue, 01 Sep 2026 05:30:00 +0530'],
  ['no time', 'UTC', 'no time'],
])('shows %s in %s', (time, zone, expected) => {
  expect(formatLocalTime(time, zone)).toBe(expected)
})
