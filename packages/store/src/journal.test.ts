import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { Journal } from './journal.ts'

function directoryOfTest(): string {
  const directory = temporaryDirectory()
  onTestFinished(() => directory.remove())
  return directory.path
}

const eventsOf = (sequence: number, length: number) => new Uint8Array(length).fill(sequence)

/** Appends the next record, with `length` bytes of events. */
async function append(journal: Journal, length = 10): Promise<number> {
  const sequence = journal.nextSequence
  await journal.append({ sequence, revision: sequence * 2, compacted: sequence, events: eventsOf(sequence, length) })
  return sequence
}

/** The sequences a journal is found with. */
async function sequencesIn(directory: string, after = 0): Promise<number[]> {
  const { journal, records } = await Journal.open(directory, after)
  await journal.close()
  return records.map(({ sequence }) => sequence)
}

describe('a journal', () => {
  it('gives back, after a restart, what was appended since a record', async () => {
    const directory = directoryOfTest()
    const { journal } = await Journal.open(directory, 0)
    for (const length of [0, 5, 100_000]) await append(journal, length)
    await journal.close()

    const again = await Journal.open(directory, 1)
    expect(again.records).toEqual([
      { sequence: 2, revision: 4, compacted: 2, events: eventsOf(2, 5) },
      { sequence: 3, revision: 6, compacted: 3, events: eventsOf(3, 100_000) },
    ])
    expect(again.journal.nextSequence).toBe(4)
    await again.journal.close()
  })

  it('goes on numbering where the tables are when its files are empty', async () => {
    const { journal, records } = await Journal.open(directoryOfTest(), 41)
    expect([records, journal.nextSequence]).toEqual([[], 42])
    await journal.close()
  })

  it('writes over what is safe elsewhere, and over nothing else', async () => {
    const directory = directoryOfTest()
    const { journal } = await Journal.open(directory, 0, 100)
    const appended: number[] = []
    while (journal.blockedBy === undefined) appended.push(await append(journal, 40))
    expect(appended).toEqual([1, 2, 3, 4])
    expect(journal.blockedBy).toBe(2)
    expect(await sequencesIn(directory)).toEqual([1, 2, 3, 4])

    journal.release(2)
    expect(journal.blockedBy).toBeUndefined()
    await append(journal, 40)
    expect(await sequencesIn(directory, 2)).toEqual([3, 4, 5])
    await journal.close()
  })

  it('takes the end of an earlier round for what it is', async () => {
    const directory = directoryOfTest()
    const { journal } = await Journal.open(directory, 0, 1000)
    for (let count = 0; count < 50; count++) {
      journal.release(await append(journal, 40))
      const { journal: reader, records } = await Journal.open(directory, count)
      expect(records.map(({ sequence }) => sequence)).toEqual([count + 1])
      await reader.close()
    }
    await journal.close()
  })

  it('ends at a record that was cut off, wherever that was', async () => {
    const directory = directoryOfTest()
    const { journal } = await Journal.open(directory, 0)
    for (const length of [30, 0, 50]) await append(journal, length)
    await journal.close()
    const file = join(directory, 'journal-0')
    const ends = [0, 62, 94, 176]
    for (let cut = ends.at(-1) ?? 0; cut >= 0; cut--) {
      truncateSync(file, cut)
      const whole = ends.filter((end) => end <= cut).length - 1
      expect(await sequencesIn(directory)).toEqual([1, 2, 3].slice(0, whole))
    }
  })

  it('gives back nothing but what was appended, whichever byte the disk gets wrong', async () => {
    const directory = directoryOfTest()
    const { journal } = await Journal.open(directory, 0)
    for (const length of [3, 3, 3]) await append(journal, length)
    await journal.close()
    const file = join(directory, 'journal-0')
    const bytes = readFileSync(file).subarray(0, 3 * 35)
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), async (at, difference) => {
        const wrong = Uint8Array.from(bytes)
        wrong[at] = (wrong[at] ?? 0) ^ difference
        writeFileSync(file, wrong)
        expect(await sequencesIn(directory)).toEqual([1, 2, 3].slice(0, Math.floor(at / 35)))
      }),
      { numRuns: 100 },
    )
  })

  it('says so when records are missing', async () => {
    const directory = directoryOfTest()
    const { journal } = await Journal.open(directory, 0, 100)
    for (let count = 0; count < 4; count++) await append(journal, 40)
    await journal.close()
    truncateSync(join(directory, 'journal-0'), 0)
    await expect(Journal.open(directory, 0)).rejects.toThrow(
      /is damaged: its journal goes on with record 3 where 1 should be; restore the directory/,
    )
    expect(await sequencesIn(directory, 2)).toEqual([3, 4])
  })

  it('keeps its files to their size, for its owner alone', async () => {
    const directory = directoryOfTest()
    const { journal } = await Journal.open(directory, 0, 100_000)
    for (let count = 0; count < 100; count++) journal.release(await append(journal, 9_000))
    await journal.close()
    for (const name of ['journal-0', 'journal-1']) {
      const { size, mode } = statSync(join(directory, name))
      expect(size).toBe(256 * 1024)
      expect(mode & 0o777).toBe(0o600)
    }
  })
})
