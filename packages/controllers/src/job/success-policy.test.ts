import { type IndexInterval, type JobSpec, parseIndexes, type SuccessPolicyRule } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { metSuccessRule } from './success-policy.ts'

const rule = (succeededIndexes?: string, succeededCount?: number): SuccessPolicyRule => ({
  ...(succeededIndexes === undefined ? {} : { succeededIndexes }),
  ...(succeededCount === undefined ? {} : { succeededCount }),
})

const met = (succeeded: string, ...rules: readonly SuccessPolicyRule[]): string | undefined => {
  const done: readonly IndexInterval[] = parseIndexes(succeeded, 10)
  return metSuccessRule({ completions: 10, successPolicy: { rules } } as unknown as JobSpec, done)
}

/** What has succeeded of ten indexes, the rule (indexes, and how many of them), and whether it is met. */
describe('a rule that ends a Job early', () => {
  it.each<readonly [string, SuccessPolicyRule, boolean]>([
    ['0-2,4-7', rule('0-2'), true],
    ['0-2', rule('3'), false],
    ['0-2', rule(undefined, 2), true],
    ['0-2', rule(undefined, 3), true],
    ['0-2', rule(undefined, 4), false],
    ['0-2,4-7', rule('3-6', 2), true],
    ['0-2,6,7', rule('3-6', 2), false],
    ['1-9', rule('2-4,6-8'), true],
    ['2-4,6-9', rule('2-4,6-9'), true],
    ['2-5,7-9', rule('2-4,8,9'), true],
    ['2-4,6-8', rule('1-3,5-7'), false],
    ['2-4,6-8', rule('1-3,5-7', 4), true],
    ['2-4,6-8', rule('1-3,5-7', 5), false],
    ['1-3,5-7', rule('2-4,6-9'), false],
    ['1-3,5-7', rule('2-4,6-9', 4), true],
    ['1-3,7,8', rule('0-4,6-9'), false],
    ['1-3,7,8', rule('0-4,6-9', 5), true],
    ['1-3,5-9', rule('0-6,8,9'), false],
    ['1-3,5-9', rule('0-6,8,9', 7), true],
    ['1-9', rule('0-3,6-9', 7), true],
  ])('%s have succeeded of %o: %s', (succeeded, of, wanted) => {
    expect(met(succeeded, of)).toBe(wanted ? 'Matched rules at index 0' : undefined)
  })

  it.each<readonly [string, string, SuccessPolicyRule]>([
    ['before anything has succeeded, also where none is asked for', '', rule(undefined, 0)],
    ['for no index', '1-3', rule('')],
    ['for indexes that the Job does not have', '1-3', rule('10-12,14-16')],
    ['for what is no index', '0', rule('some')],
  ])('is not met %s', (_, succeeded, of) => {
    expect(met(succeeded, of)).toBeUndefined()
  })

  it('is told at the cost of its intervals, of however many indexes they are', () => {
    const completions = 400_000_000
    const rules = [rule(`0,2-${completions - 1}`, 3)]
    const spec = { completions, successPolicy: { rules } } as unknown as JobSpec
    expect(metSuccessRule(spec, [[0, 2]])).toBeUndefined()
    expect(metSuccessRule(spec, [[0, 3]])).toBe('Matched rules at index 0')
  })

  it('is the first that is met', () => {
    expect(met('0-2,4-7', rule('9'), rule('4,6'))).toBe('Matched rules at index 1')
    expect(met('0-2,4-7', rule('0,1'), rule('5'))).toBe('Matched rules at index 0')
    expect(met('0')).toBeUndefined()
  })
})
