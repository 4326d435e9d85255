import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pod } from '@coracle/api'
import { sleep, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Runtime } from '../runtimes/runtime.ts'
import { testContainer, testPod } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { diskUse } from './disk-use.ts'
import { limitsStorage } from './storage-limits.ts'
import { StorageWatcher, storagePeriodMs, storageRestFactor } from './storage-watcher.ts'

const bounded = (uid: string, sizeLimit = '1Ki'): Pod =>
  testPod({ volumes: [{ name: 'v', emptyDir: { sizeLimit } }] }, { metadata: { uid } })
const unbounded = testPod({ volumes: [{ name: 'v', emptyDir: {} }] }, { metadata: { uid: 'unbounded' } })

/**
 * A watcher of these pods. `bytes` is what is at each path, `tookMs` how long a look at one pod takes, and `workedMs` for how much of that there is
 * a processor.
 */
function watching(pods: Pod[], bytes: Record<string, number> = {}, runtime: Pick<Runtime, 'containerStorage'> = {}) {
  const environment = virtualEnvironment()
  const state = { tookMs: 0, workedMs: 0 }
  const evicted: string[] = []
  const looks: { atMs: number; paths: readonly string[] }[] = []
  const beganMs = environment.clock.monotonicMs()
  const watcher = new StorageWatcher({
    environment,
    runtime,
    directory: '/',
    pods: () =>
      pods.filter(limitsStorage).map((pod) => ({
        pod,
        volumes: new Map([['v', { path: `/${pod.metadata.uid}/v`, readOnly: false }]]),
        evict: (message, _, signal) => evicted.push(`${pod.metadata.uid}: ${message}${signal}`) > 0,
      })),
    async measure(paths) {
      looks.push({ atMs: environment.clock.monotonicMs() - beganMs, paths })
      if (state.tookMs > 0) await sleep(environment.clock, state.tookMs)
      return {
        bytes: new Map(paths.flatMap((path) => (bytes[path] === undefined ? [] : [[path, bytes[path]] as const]))),
        workedMs: state.workedMs,
      }
    },
  })
  return { watcher, environment, state, evicted, looks }
}

describe('what pods store', () => {
  it('is looked at every ten seconds, of those alone that say how much that may be', async () => {
    const bytes = { '/a/v': 1000, '/b/v': 1025, '/unbounded/v': 1e9 }
    const { watcher, environment, evicted, looks } = watching([bounded('a'), unbounded, bounded('b')], bytes)
    watcher.wake()
    watcher.wake()
    await environment.clock.advance(storagePeriodMs)
    expect(looks.map(({ paths }) => paths)).toEqual([['/a/v'], ['/b/v']])
    expect(evicted).toEqual(['b: Usage of EmptyDir volume "v" exceeds the limit "1Ki". emptydirfs.limit'])
    bytes['/a/v'] = 2000
    await environment.clock.advance(storagePeriodMs)
    expect(evicted[1]).toMatch(/^a: /)
  })

  it('is not looked at while there are no such pods, and again when there are', async () => {
    const pods = [bounded('a')]
    const { watcher, environment, looks } = watching(pods)
    watcher.wake()
    await environment.clock.advance(storagePeriodMs)
    expect(looks).toHaveLength(1)
    const [pod] = pods.splice(0)
    await environment.clock.advance(storagePeriodMs * 5)
    expect(looks).toHaveLength(1)
    if (pod !== undefined) pods.push(pod)
    watcher.wake()
    await environment.clock.advance(storagePeriodMs)
    expect(looks).toHaveLength(2)
  })

  it('is looked at less often the more work that is', async () => {
    const { watcher, environment, state, looks } = watching([bounded('a')])
    state.tookMs = 3_000
    state.workedMs = 3_000
    watcher.wake()
    await environment.clock.advance(storagePeriodMs * 15)
    const second = storagePeriodMs + 3_000 + 3_000 * storageRestFactor
    expect(looks.map(({ atMs }) => atMs)).toEqual([storagePeriodMs, second, second + 63_000])
  })

  it('is looked at as often where others have the processors, and half of the time where it takes longer', async () => {
    const { watcher, environment, state, looks } = watching([bounded('a')])
    state.tookMs = 9_000
    watcher.wake()
    await environment.clock.advance(storagePeriodMs + 9_000 + storagePeriodMs)
    expect(looks.map(({ atMs }) => atMs)).toEqual([storagePeriodMs, storagePeriodMs * 2 + 9_000])
    state.tookMs = 20_000
    await environment.clock.advance(9_000 + storagePeriodMs + 20_000 + 20_000)
    expect(looks.map(({ atMs }) => atMs).slice(2)).toEqual([48_000, 88_000])
  })

  it('is no longer looked at when the node agent stops', async () => {
    const { watcher, environment, looks } = watching([bounded('a')])
    watcher.wake()
    watcher.stop()
    await environment.clock.advance(storagePeriodMs * 5)
    expect(looks).toEqual([])
  })

  it('has logs, and what containers write beside volumes', async () => {
    const container = testContainer({ resources: { limits: { 'ephemeral-storage': '1Ki' } } })
    const pod = testPod({ containers: [container] })
    const bytes = { '/logs/web': 600, '/work/web': 500 }
    for (const [more, isEvicted] of [
      [{ layerBytes: 424 }, false],
      [{ layerBytes: 425 }, true],
      [{ layerDirectory: '/work/web' }, true],
      [{}, false],
    ] as const) {
      const containerStorage = async () => [{ name: 'web', logDirectory: '/logs/web', ...more }]
      const { watcher, evicted } = watching([pod], bytes, { containerStorage })
      await watcher.look()
      expect(evicted.length === 1).toBe(isEvicted)
    }
  })
})

it('takes of the disk what is there, in whole blocks, whatever goes meanwhile', async () => {
  const directory = temporaryDirectory()
  const [full, empty, gone] = ['full', 'empty dir', 'gone'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(join(full, 'deep', 'er'), { recursive: true })
  mkdirSync(empty)
  for (const name of ['one', 'deep/two', 'deep/er/three']) writeFileSync(join(full, name), Buffer.alloc(100_000, 1))
  const { bytes: found } = await diskUse([full, gone, empty], new AbortController().signal)
  expect([...found.keys()]).toEqual([full, empty])
  expect(found.get(full)).toBeGreaterThanOrEqual(300_000)
  expect(found.get(full)).toBeLessThan(400_000)
  expect(found.get(empty)).toBeLessThan(100_000)
})

/** Has the program that measures be this script, and gives a directory that it may use: `$HERE`. */
function measuredBy(script: string): string {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'du'), `#!/bin/sh\nHERE=${directory}\n${script}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  return directory
}

it('tells for how long it has had a processor, and not how long it has waited', async () => {
  const says = "printf '4\\t/path\\n'"
  measuredBy(`i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; ${says}`)
  const signal = new AbortController().signal
  const working = await diskUse(['/path'], signal)
  expect(working.bytes).toEqual(new Map([['/path', 4096]]))
  expect(working.workedMs).toBeGreaterThanOrEqual(10)
  measuredBy(says)
  const idle = await diskUse(['/path'], signal)
  expect(idle.bytes).toEqual(working.bytes)
  expect(idle.workedMs).toBeLessThan(working.workedMs)
})

it('ends what measures when the node agent stops', async () => {
  const directory = measuredBy("trap 'kill $!; touch $HERE/ended; exit' TERM; sleep 1000 & touch $HERE/begun; wait")
  const is = (what: string) => vi.waitUntil(() => existsSync(join(directory, what)), { timeout: 60_000 })
  const stopping = new AbortController()
  const measuring = diskUse(['/path'], stopping.signal)
  await is('begun')
  stopping.abort()
  expect((await measuring).bytes).toEqual(new Map())
  await is('ended')
})
