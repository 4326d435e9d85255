import { describe, expect, it } from 'vitest'
import { canonicalTime, formatMicroTime, formatTime, parseTime } from './time.ts'

describe('parseTime', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2026-01-01T00:00:00Z', 1_767_225_600_000],
    ['2026-01-01T01:00:00+01:00', 1_767_225_600_000],
    ['2025-12-31T23:30:00-00:30', 1_767_225_600_000],
    ['1970-01-01T00:00:00.5Z', 500],
    ['1970-01-01T00:00:00.000250Z', 0.25],
  ])('reads %s', (text, ms) => {
    expect(parseTime(text)).toBe(ms)
  })

  it.each([
    '',
    'now',
    '2026-01-01',
    '2026-13-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01t00:00:00z',
  ])('refuses %j', (text) => {
    expect(parseTime(text)).toBeNaN()
  })

  it('knows the 29th of February of leap years', () => {
    expect(parseTime('2028-02-29T00:00:00Z')).not.toBeNaN()
    expect(parseTime('1900-02-29T00:00:00Z')).toBeNaN()
  })
})

describe('formatTime', () => {
  it('cuts off what is below a second', () => {
    expect(formatTime(1_767_225_600_999)).toBe('2026-01-01T00:00:00Z')
  })

  it('has six digits for micro times', () => {
    expect(formatMicroTime(1_767_225_600_000)).toBe('2026-01-01T00:00:00.000000Z')
    expect(formatMicroTime(1_767_225_600_123.456)).toBe('2026-01-01T00:00:00.123456Z')
    expect(formatMicroTime(999.9999)).toBe('1970-01-01T00:00:01.000000Z')
  })
})

describe('canonicalTime', () => {
  it('is in UTC and whole seconds', () => {
    expect(canonicalTime('2026-01-01T01:00:00.75+01:00', false)).toBe('2026-01-01T00:00:00Z')
  })

  it('keeps microseconds where they count', () => {
    expect(canonicalTime('2026-01-01T00:00:00.123456Z', true)).toBe('2026-01-01T00:00:00.123456Z')
    expect(canonicalTime('2026-01-01T01:00:00.000001+01:00', true)).toBe('2026-01-01T00:00:00.000001Z')
  })

  it.each(['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.1234567Z'])(
    'needs all six of %s',
    (text) => {
      expect(canonicalTime(text, true)).toBeUndefined()
    },
  )

  it('is undefined for what is no time', () => {
    expect(canonicalTime('yesterday', false)).toBeUndefined()
  })
})

describe('conversions of more times than are remembered', () => {
  it('come out the same the second time', () => {
    const seconds = Array.from({ length: 200 }, (_, index) => index * 1_000_000_000)
    for (const ms of [...seconds, ...seconds]) expect(parseTime(formatTime(ms))).toBe(ms)
  })
})

describe('formatTime, asked for one second and then another', () => {
  it('gives each its own text', () => {
    const times = [0, 999, 1000, 0, 86_400_000].map(formatTime)
    expect(times).toEqual([
      '1970-01-01T00:00:00Z',
      '1970-01-01T00:00:00Z',
      '1970-01-01T00:00:01Z',
      '1970-01-01T00:00:00Z',
      '1970-01-02T00:00:00Z',
    ])
    expect(canonicalTime('1970-01-02T01:00:00.000000+01:00', true)).toBe('1970-01-02T00:00:00.000000Z')
    expect(canonicalTime('1970-01-02T00:00:00Z', false)).toBe('1970-01-02T00:00:00Z')
  })
})
