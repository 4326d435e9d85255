import type { AdmissionFacts } from '@coracle/api/admission'
import { realClock, VirtualClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { turnMs, WorkTurns } from '../../work-turns.ts'
import { MatchConditions } from '../matching/conditions.ts'
import { PolicyExpressions } from './policy-expressions.ts'

/** A clock on which each look at it takes half a turn, and whose turns a test steps through. */
class SlowClock extends VirtualClock {
  readonly #deferred: (() => void)[] = []
  #ms = 0
  override monotonicMs(): number {
    this.#ms += turnMs / 2
    return this.#ms
  }
  override defer(callback: () => void): void {
    this.#deferred.push(callback)
  }
  async turn(): Promise<void> {
    for (const callback of this.#deferred.splice(0)) {
      callback()
      for (let hop = 0; hop < 20; hop += 1) await Promise.resolve()
    }
  }
}

const every = (names: string, last: string) =>
  [...names].reduceRight((inner, name) => `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(${name}, ${inner})`, last)
const cheap = '1 < 2'
const costly = every('abcd', 'a + b + c + d > 0')

const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
const resource = { group: '', version: 'v1', resource: 'configmaps' }
const facts: AdmissionFacts = {
  request: {
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    operation: 'CREATE',
    userInfo: {},
    dryRun: false,
    options: null,
  },
  object: undefined,
  oldObject: undefined,
}

/** Until all modules that compiling waits for are there. */
async function turnsUntil(isDone: () => boolean, clock: SlowClock): Promise<void> {
  while (!isDone()) {
    await clock.turn()
    await new Promise<void>((resolve) => realClock.defer(resolve))
  }
}

/** In how many turns of the event loop something is answered. */
async function turnsOf(judge: (turns: WorkTurns) => Promise<unknown>): Promise<number> {
  const clock = new SlowClock()
  const turns = new WorkTurns(clock)
  let answers = 0
  const ask = () =>
    judge(turns).then(() => {
      answers += 1
    })
  void ask()
  await turnsUntil(() => answers === 1, clock)
  for (let each = 0; each < 50; each += 1) await clock.turn()
  let count = 0
  void ask()
  for (let hop = 0; hop < 20; hop += 1) await Promise.resolve()
  for (; answers < 2; count += 1) await clock.turn()
  return count
}

/** How many of five that are asked together have answered before anybody else is served, once it is known what they cost. */
async function answeredAtOnce(expression: string): Promise<number> {
  const clock = new SlowClock()
  const turns = new WorkTurns(clock)
  const expressions = new PolicyExpressions({ validations: [{ expression }] }, new VirtualClock())
  let answers = 0
  const ask = () =>
    expressions.judge(facts, turns).then(() => {
      answers += 1
    })
  const first = ask()
  await turnsUntil(() => answers > 0, clock)
  await first
  for (let each = 0; each < 3; each += 1) await clock.turn()
  answers = 0
  const all = Array.from({ length: 5 }, ask)
  for (let hop = 0; hop < 20; hop += 1) await Promise.resolve()
  const atOnce = answers
  while (answers < all.length) await clock.turn()
  return atOnce
}

it('serves others between two that take long', async () => {
  expect(await answeredAtOnce(costly)).toBe(1)
})

it('asks at once what takes no time', async () => {
  expect(await answeredAtOnce(cheap)).toBe(5)
})

describe('serves others after each expression that took long', () => {
  const times = (expression: string) => [expression, expression, expression]
  const judging = (policy: ConstructorParameters<typeof PolicyExpressions>[0]) => {
    const expressions = new PolicyExpressions(policy, new VirtualClock())
    return (turns: WorkTurns) => expressions.judge(facts, turns)
  }
  const conditions = (expression: string) => {
    const sources = times(expression).map((each, index) => ({ name: `c${index}`, expression: each }))
    const matching = new MatchConditions(sources, new VirtualClock())
    return (turns: WorkTurns) => matching.judge(facts, turns)
  }

  it.each([
    ['validations', judging({ validations: times(costly).map((expression) => ({ expression })) })],
    [
      'messages',
      judging({
        validations: times(`${costly} ? '' : ''`).map((messageExpression) => ({
          expression: 'false',
          messageExpression,
        })),
      }),
    ],
    [
      'what is noted',
      judging({
        auditAnnotations: times(`${costly} ? '' : ''`).map((valueExpression, index) => ({
          key: `k${index}`,
          valueExpression,
        })),
      }),
    ],
    ['conditions', conditions(costly)],
  ])('%s', async (_, judge) => {
    expect(await turnsOf(judge)).toBeGreaterThanOrEqual(2)
  })

  it('and not after those that did not', async () => {
    expect(await turnsOf(conditions(cheap))).toBe(0)
  })
})
