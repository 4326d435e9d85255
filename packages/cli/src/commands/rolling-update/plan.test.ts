import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ControllerState, nextStep, type UpdateState } from './plan.ts'

const settled = (replicas: number): ControllerState => ({ replicas, current: replicas, ready: replicas })
const state = (old: number, next: number, original: number, desired: number): UpdateState => ({
  old: settled(old),
  next: settled(next),
  original,
  desired,
})

describe('the next step of a rolling update', () => {
  it.each([
    ['one less of the old when the first of the new is ready', state(3, 1, 3, 3), 'old 2'],
    ['one more of the new when the old has made room', state(2, 1, 3, 3), 'next 2'],
    ['the rest of the old when the new are all there', state(1, 3, 3, 3), 'old 0'],
    ['what the old had more goes at the end', state(3, 2, 5, 2), 'old 0'],
    ['an old one with fewer is empty early', state(0, 2, 2, 4), 'next 3'],
    ['the end', state(0, 3, 3, 3), 'finish'],
    ['to none at all', state(3, 0, 3, 0), 'old 0'],
    ['waits for the new to be ready', { ...state(3, 1, 3, 3), next: { replicas: 1, current: 1, ready: 0 } }, 'wait'],
    ['waits for the old to go', { ...state(2, 1, 3, 3), old: { replicas: 2, current: 3, ready: 2 } }, 'wait'],
  ])('%s', (_, given, expected) => {
    const step = nextStep(given)
    expect(step.type === 'scale' ? `${step.controller} ${step.replicas}` : step.type).toBe(expected)
  })

  it('ends with all of the new and none of the old, and never has fewer than the smaller count, wherever it is broken off', () => {
    const count = fc.integer({ min: 1, max: 20 })
    fc.assert(
      fc.property(count, count, (original, desired) => {
        let now = state(original, 1, original, desired)
        const floor = Math.min(original, desired)
        for (let steps = 0; steps <= 2 * (original + desired); steps++) {
          // Each step is worked out from what is alone: a run that begins here does the same.
          const step = nextStep(now)
          if (step.type === 'finish') {
            expect([now.old.replicas, now.next.replicas]).toEqual([0, desired])
            return
          }
          if (step.type !== 'scale') throw new Error('nothing to wait for')
          now = { ...now, [step.controller]: settled(step.replicas) }
          expect(now.old.ready + now.next.ready).toBeGreaterThanOrEqual(floor)
        }
        throw new Error('it does not end')
      }),
    )
  })
})
