import { describe, expect, it } from 'vitest'
import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'
import { restartsAfter } from './restart-rules.ts'

const spec = (restartPolicy?: PodSpec['restartPolicy']): Pick<PodSpec, 'restartPolicy'> =>
  restartPolicy === undefined ? {} : { restartPolicy }
const rule = (operator: 'In' | 'NotIn', ...values: readonly number[]) =>
  ({ action: 'Restart', exitCodes: { operator, values } }) as const
const container = (fields: Partial<Container> = {}) => ({ name: 'web', ...fields })
const never = (...restartPolicyRules: readonly ReturnType<typeof rule>[]) =>
  container({ restartPolicy: 'Never', restartPolicyRules })

describe('a container that has ended', () => {
  it.each<
    [string, Partial<Container>, ReturnType<typeof spec>, readonly [after0: boolean, after1: boolean, after42: boolean]]
  >([
    ['runs again, where nothing is said', container(), spec(), [true, true, true]],
    ['always runs again', container(), spec('Always'), [true, true, true]],
    ['runs again after a failure', container(), spec('OnFailure'), [false, true, true]],
    ['never runs again', container(), spec('Never'), [false, false, false]],
    ['has a policy of its own', container({ restartPolicy: 'Never' }), spec('Always'), [false, false, false]],
    ['has a policy of its own, too', container({ restartPolicy: 'OnFailure' }), spec('Never'), [false, true, true]],
    ['runs again after a code of its rule', never(rule('In', 1, 42)), spec('Always'), [false, true, true]],
    [
      'runs again after all but the codes of its rule',
      never(rule('NotIn', 0, 1)),
      spec('Always'),
      [false, false, true],
    ],
    ['runs again by any of its rules', never(rule('In', 0), rule('In', 42)), spec('Always'), [true, false, true]],
    [
      'goes by its policy where no rule is met',
      container({ restartPolicy: 'OnFailure', restartPolicyRules: [rule('In', 0)] }),
      spec('Never'),
      [true, true, true],
    ],
  ])('%s', (_, each, pod, expected) => {
    expect([0, 1, 42].map((code) => restartsAfter(each, pod, code))).toEqual(expected)
  })
})
