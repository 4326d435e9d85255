import { expect, it } from 'vitest'
import { goTimeFault } from './time-fault.ts'

const layout = '2006-01-02T15:04:05Z07:00'

it.each([
  ['2026-01-31T12:00:00Z', undefined],
  ['2026-01-31T12:00:00.5+01:00', undefined],
  ['x', `parsing time "x" as "${layout}": cannot parse "x" as "2006"`],
  ['2026', `parsing time "2026" as "${layout}": cannot parse "" as "-"`],
  ['2026-01-31', `parsing time "2026-01-31" as "${layout}": cannot parse "" as "T"`],
  ['2026-01-31T12:00:00', `parsing time "2026-01-31T12:00:00" as "${layout}": cannot parse "" as "Z07:00"`],
  ['2026-13-01T12:00:00Z', 'parsing time "2026-13-01T12:00:00Z": month out of range'],
  ['2026-02-30T12:00:00Z', 'parsing time "2026-02-30T12:00:00Z": day out of range'],
  ['2026-02-01T12:00:00Zx', 'parsing time "2026-02-01T12:00:00Zx": extra text: "x"'],
  ['2026-01-31 12:00:00Z', `parsing time "2026-01-31 12:00:00Z" as "${layout}": cannot parse " 12:00:00Z" as "T"`],
  ['ü"', `parsing time "\\xc3\\xbc\\"" as "${layout}": cannot parse "\\xc3\\xbc\\"" as "2006"`],
])('says of %s what Go says', (text, fault) => {
  expect(goTimeFault(text)).toBe(fault)
})

const micro = '2006-01-02T15:04:05.000000Z07:00'

it.each([
  ['2026-01-31T12:00:00.123456Z', undefined],
  ['2026-01-31T12:00:00Z', `parsing time "2026-01-31T12:00:00Z" as "${micro}": cannot parse "Z" as ".000000"`],
  ['2026-01-31T12:00:00.5Z', `parsing time "2026-01-31T12:00:00.5Z" as "${micro}": cannot parse ".5Z" as ".000000"`],
])('says of %s what Go says where there are to be microseconds', (text, fault) => {
  expect(goTimeFault(text, 'micro')).toBe(fault)
})
