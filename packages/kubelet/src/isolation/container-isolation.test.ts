import { expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import { containerIsolation } from './container-isolation.ts'

it('tells of a container whether its pod is to have users of its own', () => {
  const ownUsers = (spec: object) =>
    containerIsolation(testPod(spec), testContainer(), undefined, { memoryBytes: 1 }, () => undefined).ownUsers
  expect([{ hostUsers: false }, { hostUsers: true }, {}].map(ownUsers)).toEqual([true, false, false])
})
