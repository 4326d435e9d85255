import { seededRandom } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { identity, positionAt, recordOf } from '../test/journal-records.ts'
import { SimulatedDisk } from '../test/simulated-disk.ts'
import { encodeFileHeader, encodeMark, encodeRecordHeader } from './journal-format.ts'
import { hasJournalRecords, inspectJournal } from './journal-inspection.ts'

const emptyDisk = () => new SimulatedDisk(seededRandom(1), 512)
let disk: SimulatedDisk
beforeEach(() => {
  disk = emptyDisk()
})

async function write(name: string, ...parts: Uint8Array[]): Promise<void> {
  const file = await disk.open(`/store/${name}`, { create: true, synced: false })
  await file.write(parts, 0)
  await file.close()
}

/** A file that begins after a position, and holds these records. */
const fileOf = (after: number, ...sequences: number[]) => [
  encodeFileHeader(identity, positionAt(after)),
  ...sequences.flatMap((sequence) => {
    const record = recordOf(sequence, 4)
    return [encodeRecordHeader(identity, record), record.events]
  }),
]

interface Files {
  readonly first: readonly Uint8Array[]
  readonly second: readonly Uint8Array[]
  readonly mark: number
}

async function inspect({ first, second, mark }: Files, after: number) {
  disk = emptyDisk()
  await write('journal-0', ...first)
  await write('journal-1', ...second)
  await write('journal-mark', encodeMark(identity, positionAt(mark)))
  const { records, ...found } = await inspectJournal(disk, '/store', identity, positionAt(after))
  return { ...found, records: records.map(({ sequence }) => sequence) }
}

describe('a journal that is looked at', () => {
  it('has the records of both files, in order, after those that are safe elsewhere', async () => {
    const files = { first: fileOf(0, 4, 5), second: fileOf(0, 2, 3), mark: 5 }
    expect(await inspect(files, 2)).toMatchObject({ records: [3, 4, 5], damage: undefined, newestFile: 0 })
    expect(await inspect({ ...files, first: files.second, second: files.first }, 1)).toMatchObject({
      records: [2, 3, 4, 5],
      newestFile: 1,
    })
  })

  it('tells the file of the newest record, safe elsewhere or not; the second where there is none', async () => {
    const empty = fileOf(0)
    expect(await inspect({ first: fileOf(0, 1), second: empty, mark: 1 }, 1)).toMatchObject({ newestFile: 0 })
    expect(await inspect({ first: empty, second: fileOf(0, 1), mark: 1 }, 1)).toMatchObject({ newestFile: 1 })
    expect(await inspect({ first: empty, second: empty, mark: 0 }, 0)).toMatchObject({ newestFile: 1, records: [] })
  })

  it('reaches as far as its newest record, its mark or the header of a file says', async () => {
    const empty = fileOf(0)
    const reaching = [
      { first: fileOf(7), second: empty, mark: 2 },
      { first: empty, second: fileOf(7), mark: 2 },
      { first: fileOf(0, 7), second: empty, mark: 2 },
      { first: empty, second: fileOf(0, 7), mark: 2 },
      { first: empty, second: empty, mark: 7 },
    ]
    for (const files of reaching) {
      expect(await inspect(files, 7)).toMatchObject({ damage: undefined, highestRevision: positionAt(7).revision })
      expect((await inspect(files, 8)).damage).toBe(
        'its journal ends with record 7, and record 8 is in the tables already',
      )
    }
  })

  it('is damaged where a record is missing, or the last that was acknowledged', async () => {
    const files = { first: fileOf(0, 1, 3), second: fileOf(0), mark: 3 }
    expect(await inspect(files, 0)).toMatchObject({
      records: [1],
      damage: 'its journal goes on with record 3 where 2 should be',
      highestRevision: positionAt(3).revision,
    })
    expect(await inspect({ ...files, first: fileOf(0, 1), mark: 2 }, 0)).toMatchObject({
      records: [1],
      damage: 'its journal ends with record 1, and record 2 was acknowledged',
      highestRevision: positionAt(2).revision,
    })
  })

  it('tells how long its files are', async () => {
    const first = fileOf(0, 1)
    const bytes = first.reduce((sum, { length }) => sum + length, 0)
    expect((await inspect({ first, second: fileOf(0), mark: 1 }, 0)).sizes).toEqual([bytes, 4096])
  })

  it('is damaged where a file is missing, and has no length there', async () => {
    await write('journal-1', ...fileOf(0, 1))
    const found = await inspectJournal(disk, '/store', identity, positionAt(0))
    expect(found).toMatchObject({ damage: 'journal-0 is missing', newestFile: 1, sizes: [0, 4140] })
    await write('journal-0', ...fileOf(0))
    expect(await inspectJournal(disk, '/store', identity, positionAt(0))).toMatchObject({
      damage: 'journal-mark is missing',
    })
  })

  it('is not read where the disk refuses', async () => {
    const files = { open: () => Promise.reject(Object.assign(new Error('read'), { code: 'EIO' })) }
    await expect(
      inspectJournal(
        { ...files, rename: disk.rename, syncDirectory: disk.syncDirectory },
        '/store',
        identity,
        positionAt(0),
      ),
    ).rejects.toThrow('read')
  })
})

describe('whether a directory has had records of a journal', () => {
  it('shows in what stands behind the headers of its files', async () => {
    expect(await hasJournalRecords(disk, '/store')).toBe(false)
    await write('journal-1', ...fileOf(0))
    expect(await hasJournalRecords(disk, '/store')).toBe(false)
    await write('journal-1', ...fileOf(0), new Uint8Array(1))
    expect(await hasJournalRecords(disk, '/store')).toBe(true)
  })
})
