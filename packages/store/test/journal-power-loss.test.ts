import { seededRandom } from '@coracle/environment'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Journal } from '../src/journal.ts'
import type { JournalRecord } from '../src/journal-format.ts'
import { beginning, identity, positionAt, recordOf } from './journal-records.ts'
import { PowerLostError, SimulatedDisk } from './simulated-disk.ts'

describe('a journal on a disk that loses its power', () => {
  /** Appends and releases until the power is gone, restarts, and does so again; checks after each loss what is there. */
  async function lose(seed: number): Promise<void> {
    const random = seededRandom(seed)
    const upTo = (max: number) => Math.floor(random.next() * (max + 1))
    let disk = new SimulatedDisk(random, random.next() < 0.5 ? 512 : 4096)
    const options = () => ({ files: disk, directory: '/store', identity, segmentBytes: 3000 })
    await Journal.create(options(), beginning)
    const acknowledged: JournalRecord[] = []
    let inTables = 0
    let attempts = 0
    for (let round = 0; round < 6; round++) {
      disk.loseAfter(upTo(40))
      let attempted: JournalRecord | undefined
      try {
        const { journal, records } = await Journal.open(options(), positionAt(inTables))
        expect(records).toEqual(acknowledged.slice(inTables))
        inTables = acknowledged.length
        for (;;) {
          const { blockedBy } = journal
          if (blockedBy !== undefined || random.next() < 0.3) {
            inTables = Math.max(inTables, blockedBy ?? inTables + upTo(acknowledged.length - inTables))
            journal.release(inTables)
          }
          // No two attempts have a byte in common: the pages of one cannot make up what is missing of another.
          const events = new Uint8Array(upTo(round < 3 ? 300 : 6000)).fill(attempts++)
          attempted = { ...recordOf(journal.nextSequence, 0), events }
          await journal.append(attempted)
          acknowledged.push(attempted)
          attempted = undefined
        }
      } catch (error) {
        if (!(error instanceof PowerLostError)) throw error
      }
      disk = disk.restart()
      const { journal, records } = await Journal.open(options(), positionAt(inTables))
      await journal.close()
      // What was under way when the power went may be there too.
      if (attempted !== undefined && records.at(-1)?.sequence === attempted.sequence) acknowledged.push(attempted)
      expect(records).toEqual(acknowledged.slice(inTables))
    }
  }

  it('has everything that was acknowledged, wherever the power went', async () => {
    await fc.assert(fc.asyncProperty(fc.nat(), lose), { numRuns: 100 })
  })
})
