import { describe, expect, it } from 'vitest'
import { inFlightOf } from './in-flight-flags.ts'

describe('--max-requests-inflight and --max-mutating-requests-inflight', () => {
  it.each([
    [{}, {}],
    [{ maxRequestsInflight: 800 }, { requestsInFlightMax: 1000 }],
    [{ maxMutatingRequestsInflight: 50 }, { requestsInFlightMax: 450 }],
    [{ maxRequestsInflight: 0, maxMutatingRequestsInflight: 3 }, { requestsInFlightMax: 3 }],
  ])('add up, with 400 and 200 where one is not given: %j', (flags, options) => {
    expect(inFlightOf(flags)).toEqual(options)
  })

  it('are not both zero', () => {
    expect(() => inFlightOf({ maxRequestsInflight: 0, maxMutatingRequestsInflight: 0 })).toThrow(
      'together they must be above zero',
    )
  })
})
