import { expect, it } from 'vitest'
import { pod } from '../../testing/test-core.ts'
import { warningsOfExistingPods } from './existing-pods.ts'

const sharing = { hostNetwork: true, containers: [] }

it('names the first by name of pods that violate the same, and how many others there are', () => {
  const warningsOf = (...names: readonly string[]) =>
    warningsOfExistingPods(
      'team',
      names.map((name) => pod(name, {}, sharing)),
      { level: 'baseline', version: 30 },
      { now: () => 0 },
    )
  expect(warningsOf()).toEqual([])
  const head = 'existing pods in namespace "team" violate the new PodSecurity enforce level "baseline:v1.30"'
  expect(warningsOf('a')).toEqual([head, 'a: host namespaces'])
  expect(warningsOf('b', 'a')).toEqual([head, 'a (and 1 other pod): host namespaces'])
  expect(warningsOf('c', 'a', 'b')).toEqual([head, 'a (and 2 other pods): host namespaces'])
})

it('looks at no more pods when its time is up, and says so', () => {
  let nowMs = 0
  // Each look at the clock is 0.4 s later: time is up with the third pod.
  const now = () => (nowMs += 400)
  const there = ['a', 'b', 'c', 'd', 'e'].map((name) => pod(name, {}, sharing))
  expect(warningsOfExistingPods('team', there, { level: 'baseline', version: 30 }, { now })).toEqual([
    'new PodSecurity enforce level only checked against the first 3 of 5 existing pods',
    'existing pods in namespace "team" violate the new PodSecurity enforce level "baseline:v1.30"',
    'a (and 2 other pods): host namespaces',
  ])
})
