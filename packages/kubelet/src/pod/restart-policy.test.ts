import type { Container, PodSpec } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { testContainer } from '../testing/pods.ts'
import { initRestartsAfter, startsOver } from './restart-policy.ts'

const spec = (restartPolicy?: PodSpec['restartPolicy']): PodSpec => ({
  containers: [],
  ...(restartPolicy && { restartPolicy }),
})
const rule = (...values: readonly number[]) => ({ action: 'Restart', exitCodes: { operator: 'In', values } }) as const
const container = (fields: Partial<Container> = {}) => testContainer(fields)
const never = (...restartPolicyRules: readonly ReturnType<typeof rule>[]) =>
  container({ restartPolicy: 'Never', restartPolicyRules })

describe('an init container that has ended', () => {
  it.each<[string, Container, PodSpec, readonly [after0: boolean, after1: boolean]]>([
    ['is tried again after a failure', container(), spec('Always'), [false, true]],
    ['is not tried again where the pod never restarts', container(), spec('Never'), [false, false]],
    ['runs again as a sidecar', container({ restartPolicy: 'Always' }), spec('Never'), [true, true]],
    ['is not tried again after success by any rule', never(rule(0, 1)), spec('Never'), [false, true]],
  ])('%s', (_, each, pod, expected) => {
    expect([0, 1].map((code) => initRestartsAfter(each, pod, code))).toEqual(expected)
  })
})

describe('a container that the node agent has stopped', () => {
  it.each<[string, Container, PodSpec, boolean]>([
    ['starts again where nothing is said', container(), spec(), true],
    ['starts again though only failures restart it', container(), spec('OnFailure'), true],
    ['does not where it never restarts', container(), spec('Never'), false],
    ['goes by its own policy', container({ restartPolicy: 'Never' }), spec('Always'), false],
    ['goes by its own policy, too', container({ restartPolicy: 'Always' }), spec('Never'), true],
  ])('%s', (_, each, pod, expected) => {
    expect(startsOver(each, pod)).toBe(expected)
  })
})
