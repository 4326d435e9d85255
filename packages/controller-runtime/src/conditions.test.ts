import { describe, expect, it } from 'vitest'
import { type Condition, getCondition, isConditionTrue, removeCondition, setCondition } from './conditions.ts'

const atMs = (text: string) => (text === 'noon' ? 1_767_268_800_000 : 1_767_272_400_000)
const noon = '2026-01-01T12:00:00Z'
const one = '2026-01-01T13:00:00Z'
const ready: Condition = { type: 'Ready', status: 'True', reason: 'Up', message: 'it is up' }

describe('setCondition', () => {
  it('adds a condition with the time it came to be', () => {
    expect(setCondition(undefined, ready, atMs('noon'))).toEqual([{ ...ready, lastTransitionTime: noon }])
  })

  it.each([
    ['moves the time when the status changes', { ...ready, status: 'False' }, one],
    ['keeps the time when only the reason changes', { ...ready, reason: 'StillUp' }, noon],
  ])('%s', (_, wanted, time) => {
    const before = setCondition([], ready, atMs('noon'))
    expect(setCondition(before, wanted, atMs('one'))).toEqual([{ ...wanted, lastTransitionTime: time }])
  })

  it('returns the very same list when nothing changes', () => {
    const before = setCondition([], ready, atMs('noon'))
    expect(setCondition(before, ready, atMs('one'))).toBe(before)
  })

  it('leaves the others and their order alone', () => {
    const other: Condition = { type: 'Other', status: 'True', lastTransitionTime: noon }
    const changed = setCondition(
      [other, { ...ready, lastTransitionTime: noon }],
      { ...ready, status: 'False' },
      atMs('one'),
    )
    expect(changed.map((condition) => condition.type)).toEqual(['Other', 'Ready'])
    expect(changed[0]).toBe(other)
  })
})

describe('reading conditions', () => {
  it('finds by type', () => {
    expect(getCondition([ready], 'Ready')).toBe(ready)
    expect(getCondition(undefined, 'Ready')).toBeUndefined()
    expect([isConditionTrue([ready], 'Ready'), isConditionTrue([ready], 'Other')]).toEqual([true, false])
  })

  it('removes by type, and gives the same list where there is none', () => {
    const list = [ready]
    expect(removeCondition(list, 'Ready')).toEqual([])
    expect(removeCondition(list, 'Other')).toBe(list)
  })
})
