import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatTime, parseTime } from '../time.ts'
import { CronError, parseCron } from './cron-schedule.ts'
import { type TimeZone, timeZone, utc } from './time-zone.ts'

function zoneNamed(name: string): TimeZone {
  const zone = timeZone(name)
  if (zone === undefined) throw new Error(`no zone ${name}`)
  return zone
}

/** The next times, one after the other. */
function times(schedule: string, after: string, count: number, zone: TimeZone = utc): readonly string[] {
  const cron = parseCron(schedule, zone)
  const found: string[] = []
  let ms: number | undefined = parseTime(after)
  for (let index = 0; index < count && ms !== undefined; index += 1) {
    ms = cron.next(ms)
    if (ms !== undefined) found.push(formatTime(ms))
  }
  return found
}

describe('times of a schedule', () => {
  it.each<readonly [string, string, readonly string[]]>([
    ['* * * * *', '2026-01-01T00:00:59Z', ['2026-01-01T00:01:00Z', '2026-01-01T00:02:00Z']],
    ['*/20 * * * *', '2026-01-01T00:25:00Z', ['2026-01-01T00:40:00Z', '2026-01-01T01:00:00Z']],
    ['5/20 1-2 * * *', '2026-01-01T01:25:00Z', ['2026-01-01T01:45:00Z', '2026-01-01T02:05:00Z']],
    ['0 12 31 * *', '2026-01-31T12:00:00Z', ['2026-03-31T12:00:00Z', '2026-05-31T12:00:00Z']],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00Z']],
    ['0 0 * JAN sun', '2026-01-24T00:00:00Z', ['2026-01-25T00:00:00Z', '2027-01-03T00:00:00Z']],
    ['0 0 ? * mon-tue', '2026-01-01T00:00:00Z', ['2026-01-05T00:00:00Z', '2026-01-06T00:00:00Z']],
    ['@hourly', '2026-01-01T00:00:00Z', ['2026-01-01T01:00:00Z']],
    ['@weekly', '2026-01-01T00:00:00Z', ['2026-01-04T00:00:00Z']],
    ['@yearly', '2026-01-01T00:00:00Z', ['2027-01-01T00:00:00Z']],
    ['@every 1h30m', '2026-01-01T00:00:10Z', ['2026-01-01T01:30:10Z', '2026-01-01T03:00:10Z']],
  ])('of %s after %s', (schedule, after, expected) => {
    expect(times(schedule, after, expected.length)).toEqual(expected)
  })

  it('takes either day where both are restricted, and both where one is open', () => {
    expect(times('0 0 13 * 5', '2026-02-01T00:00:00Z', 3)).toEqual([
      '2026-02-06T00:00:00Z',
      '2026-02-13T00:00:00Z',
      '2026-02-20T00:00:00Z',
    ])
    // A step makes a star a restriction, except for a step of one.
    expect(times('0 0 */1 * 5', '2026-02-01T00:00:00Z', 1)).toEqual(['2026-02-06T00:00:00Z'])
    expect(times('0 0 */2 * 5', '2026-02-01T00:00:00Z', 1)).toEqual(['2026-02-03T00:00:00Z'])
  })

  it('never comes to a day that there is not', () => {
    expect(parseCron('0 0 30 2 *', utc).next(0)).toBeUndefined()
  })
})

describe('times in a zone', () => {
  const berlin = zoneNamed('Europe/Berlin')

  it('are those of its clock', () => {
    expect(times('30 9 * * *', '2026-01-01T00:00:00Z', 1, berlin)).toEqual(['2026-01-01T08:30:00Z'])
    expect(times('30 9 * * *', '2026-07-01T00:00:00Z', 1, berlin)).toEqual(['2026-07-01T07:30:00Z'])
    expect(times('0 0 * * *', '2026-01-01T00:00:00Z', 1, zoneNamed('Asia/Kolkata'))).toEqual(['2026-01-01T18:30:00Z'])
  })

  it('are left out with the hour that the clock leaves out', () => {
    expect(times('30 2 * * *', '2026-03-28T12:00:00Z', 1, berlin)).toEqual(['2026-03-30T00:30:00Z'])
    expect(times('0 * * * *', '2026-03-29T00:00:00Z', 2, berlin)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-29T02:00:00Z',
    ])
  })

  it('come twice with the hour that the clock shows twice', () => {
    expect(times('30 2 * * *', '2026-10-24T12:00:00Z', 2, berlin)).toEqual([
      '2026-10-25T00:30:00Z',
      '2026-10-25T01:30:00Z',
    ])
  })

  it('begin a day without midnight with its first hour', () => {
    // Clocks in Beirut go from 23:59 on 28 March to 01:00.
    const beirut = zoneNamed('Asia/Beirut')
    expect(times('0 1 * * *', '2026-03-28T12:00:00Z', 1, beirut)).toEqual(['2026-03-28T22:00:00Z'])
    expect(times('0 0 29,30 * *', '2026-03-28T12:00:00Z', 1, beirut)).toEqual(['2026-03-29T21:00:00Z'])
  })

  it('are there for names of zones only', () => {
    expect(['Mars/Olympus', '+01:00', ''].map(timeZone)).toEqual([undefined, undefined, undefined])
  })
})

describe('a schedule that is none', () => {
  it.each([
    ['', 'empty spec string'],
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['0 0 0 0 0 0', 'expected exactly 5 fields, found 6: [0 0 0 0 0 0]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['* * * * 7', 'end of range (7) above maximum (6): 7'],
    ['5-3 * * * *', 'beginning of range (5) beyond end of range (3): 5-3'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['*/2/3 * * * *', 'too many slashes: */2/3'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['* * L * *', 'failed to parse int from L: strconv.Atoi: parsing "L": invalid syntax'],
    ['@sometimes', 'unrecognized descriptor: @sometimes'],
    ['@every now', 'failed to parse duration @every now: time: invalid duration "now"'],
  ])('%j is told as upstream tells it', (schedule, message) => {
    expect(() => parseCron(schedule, utc)).toThrow(new CronError(message))
  })
})

it('finds the first minute that fits, however far away', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo']
  const minute = fc.integer({ min: 0, max: 59 })
  fc.assert(
    fc.property(
      fc.constantFrom(...zones.map(zoneNamed)),
      minute,
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 6 }),
      fc.integer({ min: 29_000_000, max: 30_500_000 }),
      (zone, minute, hour, weekday, start) => {
        const fits = (ms: number): boolean => {
          const local = zone.localTime(ms)
          return local.minute === minute && local.hour === hour && local.weekday === weekday
        }
        const afterMs = start * 60_000
        let expected = afterMs + 60_000
        while (!fits(expected)) expected += 60_000
        expect(parseCron(`${minute} ${hour} * * ${weekday}`, zone).next(afterMs)).toBe(expected)
      },
    ),
    { numRuns: 30 },
  )
})
