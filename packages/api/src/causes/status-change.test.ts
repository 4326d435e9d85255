import { expect, it } from 'vitest'
import { describeStatusChange } from './status-change.ts'

const available = (status: string, reason?: string) => ({ type: 'Available', status, ...(reason && { reason }) })

it.each([
  ['a count that changed', { replicas: 3, ready: 2 }, { replicas: 3, ready: 3 }, 'ready 2 → 3'],
  ['what is said for the first time', undefined, { replicas: 1 }, 'replicas is 1'],
  ['what is not said any more', { replicas: 1 }, {}, 'no replicas'],
  ['lists and objects, by name', { active: [] }, { active: [{}] }, 'active changed'],
  [
    'conditions, with their reasons',
    { conditions: [available('False')] },
    { conditions: [available('True', 'MinimumReplicasAvailable')] },
    'condition Available is True (MinimumReplicasAvailable)',
  ],
  [
    'a condition that has another reason',
    { conditions: [available('True', 'A')] },
    { conditions: [available('True', 'B')] },
    'condition Available is still True (B)',
  ],
  ['a condition that went', { conditions: [available('True')] }, { conditions: [] }, 'no condition Available'],
  [
    'a condition of which only the message changed',
    { conditions: [available('True')] },
    { conditions: [{ ...available('True'), message: 'x' }] },
    'conditions changed',
  ],
  ['the first of many', {}, { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, 'a is 1, b is 2, c is 3, d is 4 and 2 more'],
  ['that something is written all the same', { a: 1 }, { a: 1 }, 'the observed state has changed'],
])('tells %s', (_what, before, after, told) => {
  expect(describeStatusChange(before, after)).toBe(told)
})
