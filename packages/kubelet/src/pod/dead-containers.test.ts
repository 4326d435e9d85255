import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ContainerRuntimeStatus } from '../runtimes/runtime.ts'
import { deadContainerLimits, surplusRuns } from './dead-containers.ts'

const nowMs = 1_000_000

/** `web#3` is the fourth run of a container, made at so many seconds; it has ended unless `!` follows. */
function runs(pod: string, ...texts: readonly string[]): readonly ContainerRuntimeStatus[] {
  return texts.map((text) => {
    const [, name = '', attempt = '', seconds = attempt, mark = ''] = /^(\w+)#(\d+)(?:@(\d+))?([!?]?)$/.exec(text) ?? []
    return {
      id: `${pod} ${name}#${attempt}`,
      sandboxId: 's',
      podUid: pod,
      name,
      attempt: Number(attempt),
      image: 'x',
      imageRef: 'x',
      state: mark === '!' ? 'running' : mark === '?' ? 'created' : 'exited',
      createdAtMs: Number(seconds) * 1000,
    }
  })
}

const removed = (found: readonly ContainerRuntimeStatus[], limits: Partial<typeof deadContainerLimits> = {}) =>
  surplusRuns(found, { ...deadContainerLimits, ...limits }, nowMs).map(({ id }) => id)

describe('of containers that have ended', () => {
  it('the last run and one before are kept', () => {
    expect(removed(runs('a', 'web#0', 'web#1', 'web#2', 'web#3!'))).toEqual(['a web#1', 'a web#0'])
    expect(removed(runs('a', 'web#0', 'web#1', 'web#2'))).toEqual(['a web#0'])
    expect(removed(runs('a', 'web#0', 'web#1!'))).toEqual([])
  })

  it.each([
    [0, ['a web#2', 'a web#1', 'a web#0']],
    [2, ['a web#0']],
    [3, []],
    [-1, []],
  ])('%i of each container are kept beside the last run', (perContainerMax, expected) => {
    expect(removed(runs('a', 'web#0', 'web#1', 'web#2', 'web#3'), { perContainerMax })).toEqual(expected)
  })

  it('each container counts by itself, in each pod', () => {
    const found = [...runs('a', 'web#0', 'web#1', 'db#0', 'db#1'), ...runs('b', 'web#0', 'web#1', 'web#2')]
    expect(removed(found)).toEqual(['b web#0'])
  })

  it('those stay that were made lately', () => {
    const found = runs('a', 'web#0@900', 'web#1@941', 'web#2@950', 'web#3@990')
    expect(removed(found, { ttlMinMs: 60_000, perContainerMax: 0 })).toEqual(['a web#0'])
    expect(removed(found, { ttlMinMs: 59_000, perContainerMax: 0 })).toEqual(['a web#1', 'a web#0'])
  })

  it('those that never ran, or run, are none', () => {
    expect(removed(runs('a', 'web#0?', 'web#1!', 'web#2?', 'web#3!', 'web#4'), { perContainerMax: 0 })).toEqual([])
  })

  describe('where there is a limit for all', () => {
    const all = { perContainerMax: -1 }
    const found = [
      ...runs('a', 'web#0@10', 'web#1@20', 'web#2@30', 'web#3@40'),
      ...runs('b', 'web#0@15', 'web#1@50'),
      ...runs('c', 'web#0@60'),
    ]

    it('nothing goes while it holds', () => {
      expect(removed(found, { ...all, max: 4 })).toEqual([])
      expect(removed(found, { ...all, max: -1 })).toEqual([])
    })

    it('each container is left its share first', () => {
      // Two containers have runs beside their last: a share of 3 is one each, which leaves room, and two of 4 both.
      expect(removed(found, { ...all, max: 3 })).toEqual(['a web#1', 'a web#0'])
    })

    it('then the oldest go', () => {
      expect(removed(found, { ...all, max: 1 })).toEqual(['a web#1', 'a web#0', 'b web#0'])
      expect(removed(found, { ...all, max: 0 })).toEqual(['a web#1', 'a web#0', 'b web#0', 'a web#2'])
    })
  })

  it('never a last run goes, nor is the limit for all passed, whatever there is', () => {
    const some = fc.array(fc.record({ pod: fc.constantFrom('a', 'b', 'c'), attempt: fc.nat(9) }), { maxLength: 30 })
    fc.assert(
      fc.property(
        some,
        fc.integer({ min: -1, max: 3 }),
        fc.integer({ min: -1, max: 9 }),
        (given, perContainerMax, max) => {
          const unique = new Map(given.map(({ pod, attempt }) => [`${pod} ${attempt}`, runs(pod, `web#${attempt}`)]))
          const all = [...unique.values()].flat()
          const gone = new Set(removed(all, { perContainerMax, max }))
          for (const [, ofPod] of Map.groupBy(all, ({ podUid }) => podUid)) {
            const kept = ofPod.filter(({ id }) => !gone.has(id)).map(({ attempt }) => attempt)
            expect(kept).toContain(Math.max(...ofPod.map(({ attempt }) => attempt)))
            if (perContainerMax >= 0) expect(kept.length).toBeLessThanOrEqual(perContainerMax + 1)
          }
          const pods = new Set(all.map(({ podUid }) => podUid)).size
          if (max >= 0) expect(all.length - gone.size).toBeLessThanOrEqual(max + pods)
        },
      ),
    )
  })
})
