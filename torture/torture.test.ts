import { seededRandom } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { floodAll } from './floods.ts'
import { killCycles } from './kill-cycles.ts'
import { starveAll } from './starvation.ts'
import { storageFaults } from './storage-faults.ts'
import type { Result } from './support/result.ts'

// A short form of `npm run torture`, on the program as it is in the source tree.

const failed = (results: readonly Result[]) => results.filter(({ problems }) => problems.length > 0)

describe.skipIf(process.platform === 'win32')('the program', { meta: { needs: 'signals and ulimit' } }, () => {
  it('keeps what it acknowledged when it is killed', async () => {
    const result = await killCycles({ random: seededRandom(1), kills: 3 })
    expect(failed([result])).toEqual([])
    expect(result.figures).toMatch(/^3 kills/)
  })

  it('refuses a damaged store by name, or serves the truth', async () => {
    expect(failed([await storageFaults({ random: seededRandom(1), faults: 3 })])).toEqual([])
  })

  it('loses nothing for want of disk, descriptors or readers', async () => {
    expect(failed(await starveAll({ random: seededRandom(1) }))).toEqual([])
  })

  it('is ready under floods', async () => {
    expect(failed(await floodAll({ scale: 0.05, readyMsMax: 500 }))).toEqual([])
  })
})
