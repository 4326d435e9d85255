import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { VirtualClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { UsageCounters } from '../server/usage-counters.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { readPressure, stallsIn } from './pressure.ts'

const some = 'some avg10=96.70 avg60=97.21 avg300=93.93 total=2582656375\n'
const full = 'full avg10=0.12 avg60=0.54 avg300=1.16 total=64143651\n'
const none = { totalNs: 0, avg10: 0, avg60: 0, avg300: 0 }
const someStalls = { totalNs: 2_582_656_375_000, avg10: 96.7, avg60: 97.21, avg300: 93.93 }
const fullStalls = { totalNs: 64_143_651_000, avg10: 0.12, avg60: 0.54, avg300: 1.16 }

describe('how long tasks have waited', () => {
  it.each<[string, object | undefined]>([
    [some + full, { some: someStalls, full: fullStalls }],
    [some, { some: someStalls, full: none }],
    ['', undefined],
    ['some avg10=x', undefined],
  ])('is read as the kernel writes it: %j', (text, expected) => {
    expect(stallsIn(text)).toEqual(expected)
  })

  it('is told of what the kernel counts', async () => {
    const directory = temporaryDirectory()
    const read = () => readPressure((resource) => join(directory, `${resource}.pressure`))
    expect(await read()).toBeUndefined()
    await writeFile(join(directory, 'memory.pressure'), some + full)
    // Where it is switched off, the file cannot be read.
    await mkdir(join(directory, 'io.pressure'))
    expect(await read()).toEqual({ memory: { some: someStalls, full: fullStalls } })
  })

  it('is counted of the node', async () => {
    const directory = temporaryDirectory()
    const runtime = { runsProcesses: true, listContainers: async () => [], containerStats: async () => new Map() }
    const hostOf = async () =>
      (await new UsageCounters(new VirtualClock(), directory).read({ runtime, pods: () => [] } as never)).host
    expect(await hostOf()).not.toHaveProperty('pressure')
    await writeFile(join(directory, 'cpu'), some)
    expect(await hostOf()).toMatchObject({ pressure: { cpu: { some: someStalls, full: none } } })
  })
})
