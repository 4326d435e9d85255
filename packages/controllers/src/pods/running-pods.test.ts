import { expect, it } from 'vitest'
import { pod, replicationController } from '../testing/objects.ts'
import { RunningPods } from './running-pods.ts'

it('knows whether a controller has a pod that has not ended', () => {
  const controlledBy = replicationController(0)
  const running = new RunningPods()
  running.add(pod('bare'))
  running.add(pod('ended', { controlledBy, phase: 'Succeeded' }))
  expect(running.hasAny('default', 'rc')).toBe(false)
  running.add(pod('a', { controlledBy }))
  running.add(pod('going', { controlledBy, isGoing: true }))
  running.remove(pod('a', { controlledBy }))
  expect(running.hasAny('default', 'rc')).toBe(true)
  running.remove(pod('going', { controlledBy, isGoing: true }))
  expect(running.hasAny('default', 'rc')).toBe(false)
})
