/** How pods that have ended are counted: named first, then released, then counted, and never more than 500 at a time. */
import type { JobStatus, Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { job, jobPod as pod } from '../testing/jobs.ts'
import { account, uncountedMax } from './accounting.ts'

const none: ReadonlySet<Pod> = new Set()
const ended = (phase: 'Succeeded' | 'Failed', count: number, from = 0): readonly Pod[] =>
  Array.from({ length: count }, (_, index) => pod(`${phase}-${from + index}`, { phase }))
const uidsOf = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata.uid ?? '')

describe('pods that a status names', () => {
  const [kept = pod('a'), gone = pod('b')] = ended('Failed', 2)
  const [keptToo = pod('c'), goneToo = pod('d')] = ended('Succeeded', 2)
  const status: JobStatus = {
    succeeded: 5,
    failed: 3,
    uncountedTerminatedPods: { succeeded: uidsOf([keptToo, goneToo]), failed: uidsOf([kept, gone]) },
  }

  it('are counted once they have lost their finalizer, and stay named until then', () => {
    const made = account(job({ completions: 9 }, status), [kept, keptToo], none, 'wait')
    expect(made.counted).toEqual({
      succeeded: 6,
      failed: 4,
      uncountedTerminatedPods: { succeeded: uidsOf([keptToo]), failed: uidsOf([kept]) },
    })
    expect(made).toMatchObject({ succeeded: 7, failed: 5, released: [kept, keptToo], isSettled: false })
  })

  it('are all counted when nothing is left of them', () => {
    const made = account(job({ completions: 9 }, status), [], none, 'wait')
    expect(made.counted).toEqual({ succeeded: 7, failed: 5, uncountedTerminatedPods: {} })
    expect(made).toMatchObject({ succeeded: 7, failed: 5, released: [], isSettled: true })
  })
})

describe('more pods than a status may name', () => {
  const of = job({ completions: 5000 })
  const namesOf = ({ counted }: ReturnType<typeof account>) => counted.uncountedTerminatedPods ?? {}

  it('are counted one lot after the other', () => {
    const pods = [...ended('Succeeded', 300), ...ended('Failed', 300)]
    const first = account(of, pods, none, 'wait')
    expect(first.released).toEqual(pods.slice(0, uncountedMax))
    expect(namesOf(first)).toEqual({
      succeeded: uidsOf(pods.slice(0, 300)),
      failed: uidsOf(pods.slice(300, uncountedMax)),
    })
    const named = job({ completions: 5000 }, first.counted)
    const again = account(named, pods, none, 'wait')
    expect(namesOf(again)).toEqual(namesOf(first))
    expect(again.released).toEqual(first.released)
    const rest = account(named, pods.slice(uncountedMax), none, 'wait')
    expect(rest.counted).toEqual({
      succeeded: 300,
      failed: 200,
      uncountedTerminatedPods: { failed: uidsOf(pods.slice(uncountedMax)) },
    })
  })

  it('are not over before the last of them is counted', () => {
    const pods = ended('Failed', uncountedMax + 1)
    const indexes = ended('Succeeded', 1)
    expect(account(of, pods, none, 'wait').released).toHaveLength(uncountedMax)
    expect(account(of, [], none, 'wait').isSettled).toBe(true)
    expect(account(of, indexes, new Set(indexes), 'wait').isSettled).toBe(false)
  })
})

it('names indexes that are done in the order of their numbers', () => {
  const of = job({ completionMode: 'Indexed', completions: 20 }, { completedIndexes: '3' })
  const pods = [10, 9, 2].map((index) => pod(`done-${index}`, { phase: 'Succeeded', index }))
  const made = account(of, pods, none, 'wait')
  expect(made.succeededIndexes).toEqual([
    [2, 3],
    [9, 10],
  ])
  expect(made.counted).toEqual({ succeeded: 4, uncountedTerminatedPods: {} })
  expect(made.released).toEqual(pods)
})

it('has not counted all before the last pod has lost its finalizer, named or not', () => {
  const of = job({ completionMode: 'Indexed', completions: 2 }, { completedIndexes: '0' })
  const done = (isCounted: boolean) => [pod('done', { phase: 'Succeeded', index: 0, isCounted })]
  expect(account(of, done(false), none, 'wait').isSettled).toBe(false)
  expect(account(of, done(true), none, 'wait').isSettled).toBe(true)
})
