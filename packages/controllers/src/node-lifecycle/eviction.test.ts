import type { Pod, Taint, Toleration } from '@coracle/api'
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
  const base = pod('p', { node: 'n' })
  return { ...base, spec: { ...base.spec, tolerations } }
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
    [
      'goes by the shortest toleration',
      tolerating(
        { key: 'a', operator: 'Exists', tolerationSeconds: 300 },
        { operator: 'Exists', tolerationSeconds: 150 },
      ),
      [taint('a')],
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
