import type { Pod, Taint, Toleration } from '@coracle/api'
import { countWork } from '@coracle/api/testing'
import { describe, expect, it } from 'vitest'
import { pod, secondsAgo, startMs } from '../testing/objects.ts'
import { evictionTime } from './eviction.ts'

const taint = (key: string, parts: Partial<Taint> = {}): Taint => ({
  key,
  effect: 'NoExecute',
  timeAdded: secondsAgo(100),
  ...parts,
})

function tolerating(...tolerations: readonly Toleration[]): Pod {
  const base = pod('p', { node: 'n', age: 600 })
  return { ...base, spec: { ...base.spec, tolerations } }
}

/** A pod that tolerates the taint for so long, and was put on its node so many seconds ago, long after it was made. */
function scheduled(age: number, tolerationSeconds: number): Pod {
  const base = tolerating({ key: 'a', operator: 'Exists', tolerationSeconds })
  const condition = { type: 'PodScheduled', status: 'True', lastTransitionTime: secondsAgo(age) } as const
  return { ...base, status: { ...base.status, conditions: [condition] } }
}

const inSeconds = (at: number | undefined) => (at === undefined ? undefined : (at - startMs) / 1000)

describe('evictionTime', () => {
  it.each<[string, Pod, readonly Taint[], number | undefined]>([
    ['stays where nothing is tainted', tolerating(), [], undefined],
    [
      'stays in spite of taints that only keep new pods away',
      tolerating(),
      [taint('a', { effect: 'NoSchedule' })],
      undefined,
    ],
    ['goes at once where it tolerates nothing', tolerating(), [taint('a')], 0],
    ['stays where it tolerates for ever', tolerating({ key: 'a', operator: 'Exists' }), [taint('a')], undefined],
    ['stays where it tolerates everything', tolerating({ operator: 'Exists' }), [taint('a'), taint('b')], undefined],
    [
      'stays for so many seconds after the taint',
      tolerating({ key: 'a', operator: 'Exists', tolerationSeconds: 300 }),
      [taint('a')],
      200,
    ],
    [
      'goes when the time is over',
      tolerating({ key: 'a', operator: 'Exists', tolerationSeconds: 60 }),
      [taint('a')],
      0,
    ],
    ['stays for so many seconds after it came to a node tainted before', scheduled(20, 60), [taint('a')], 40],
    ['stays for so many seconds after a taint that came later', scheduled(200, 150), [taint('a')], 50],
    [
      'stays for so many seconds after it was made for a node tainted before',
      { ...pod('p', { node: 'n', age: 30 }), spec: scheduled(0, 60).spec },
      [taint('a')],
      30,
    ],
    [
      'stays for so many seconds from now where the taint does not say when it was added',
      scheduled(200, 60),
      [{ key: 'a', effect: 'NoExecute' }],
      60,
    ],
    [
      'goes by the first toleration of a taint',
      tolerating(
        { key: 'a', operator: 'Exists', tolerationSeconds: 300 },
        { operator: 'Exists', tolerationSeconds: 150 },
      ),
      [taint('a')],
      200,
    ],
    [
      'stays where the first is for ever',
      tolerating({ key: 'a', operator: 'Exists' }, { operator: 'Exists', tolerationSeconds: 150 }),
      [taint('a')],
      undefined,
    ],
    [
      'goes by the shortest of several taints',
      tolerating(
        { key: 'a', operator: 'Exists', tolerationSeconds: 300 },
        { operator: 'Exists', tolerationSeconds: 150 },
      ),
      [taint('a'), taint('b')],
      50,
    ],
    [
      'goes for one taint that it does not tolerate',
      tolerating({ key: 'a', operator: 'Exists' }),
      [taint('a'), taint('b')],
      0,
    ],
  ])('%s', (_, given, taints, seconds) => {
    expect(inSeconds(evictionTime(given, taints, startMs))).toBe(seconds)
  })
})

it('takes work that grows with taints and tolerations, not with their product', () => {
  const work = (count: number) => {
    const keys = Array.from({ length: count }, (_, index) => `key-${index}`)
    const leaving = tolerating(...keys.map((key) => ({ key, operator: 'Exists' as const, tolerationSeconds: 300 })))
    const taints = keys.toReversed().map((key) => taint(key))
    return countWork({ leaving, taints }, (input) => evictionTime(input.leaving, input.taints, startMs))
  }
  work(1)
  expect(work(1_000) / work(100)).toBeLessThan(20)
})
