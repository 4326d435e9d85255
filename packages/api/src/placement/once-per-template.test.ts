import { expect, it } from 'vitest'
import type { PodSpec } from '../kinds/core/pod/pod-spec.ts'
import { oncePerTemplate } from './once-per-template.ts'
import { podRequests } from './pod-resources.ts'

const containers = [{ name: 'main', image: 'example/main', resources: { requests: { cpu: '100m' } } }]
const template = { containers } as PodSpec

function counted() {
  let calls = 0
  const cpuOf = oncePerTemplate((spec) => {
    calls += 1
    return podRequests(spec).get('cpu')?.nanos
  })
  return { cpuOf, calls: () => calls }
}

it('finds out once what pods of a template take, wherever they are', () => {
  const { cpuOf, calls } = counted()
  const specs = ['a', 'b', 'c'].map((nodeName) => ({ ...template, nodeName }))
  expect(new Set(specs.map(cpuOf))).toEqual(new Set([100_000_000n]))
  expect(calls()).toBe(1)
})

it.each<readonly [string, Partial<PodSpec>, bigint]>([
  ['overhead', { overhead: { cpu: '50m' } }, 150_000_000n],
  ['resources of the pod', { resources: { requests: { cpu: '2' } } }, 2_000_000_000n],
  [
    'init containers',
    { initContainers: [{ ...containers[0], resources: { requests: { cpu: '1' } } }] as PodSpec['containers'] },
    1_000_000_000n,
  ],
])('sees that pods with the same containers differ in their %s', (_, difference, expected) => {
  const { cpuOf } = counted()
  expect(cpuOf(template)).toBe(100_000_000n)
  expect(cpuOf({ ...template, ...difference })).toBe(expected)
  expect(cpuOf(template)).toBe(100_000_000n)
})
