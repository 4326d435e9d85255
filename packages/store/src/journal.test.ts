import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from '@coracle/environment'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { beginning, identity, positionAt, recordOf } from '../test/journal-records.ts'
import { openFlags } from '../test/open-flags.ts'
import { SimulatedDisk } from '../test/simulated-disk.ts'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { type DurableFiles, hostFiles } from './durable-files.ts'
import { Journal } from './journal.ts'
import { encodeMark, encodeRecordHeader, fileHeaderBytes, recordHeaderBytes } from './journal-format.ts'
import { journalFileNames } from './journal-inspection.ts'

/** The directory of a journal that has just been made. */
async function directoryOfTest(position = beginning): Promise<string> {
  const directory = temporaryDirectory()
  onTestFinished(() => directory.remove())
  await Journal.create({ files: hostFiles, directory: directory.path, identity }, position)
  return directory.path
}

const openIn = (directory: string, after = 0, segmentBytes?: number) =>
  Journal.open(
    { files: hostFiles, directory, identity, ...(segmentBytes === undefined ? {} : { segmentBytes }) },
    positionAt(after),
  )

/** The host's files; it is told how many bytes each write has. */
const recordingFiles = (onWrite: (bytes: number) => void): DurableFiles => ({
  ...hostFiles,
  async open(path, options) {
    const file = await hostFiles.open(path, options)
    return {
      read: () => file.read(),
      write(parts, position) {
        onWrite(parts.reduce((sum, { length }) => sum + length, 0))
        return file.write(parts, position)
      },
      writeUnsynced: (bytes, position) => file.writeUnsynced(bytes, position),
      sync: () => file.sync(),
      close: () => file.close(),
    }
  },
})

/** Appends the next record, with `length` bytes of events. */
async function append(journal: Journal, length = 10): Promise<number> {
  const sequence = journal.nextSequence
  await journal.append(recordOf(sequence, length))
  return sequence
}

/** The sequences a journal is found with. */
async function sequencesIn(directory: string, after = 0): Promise<number[]> {
  const { journal, records } = await openIn(directory, after)
  await journal.close()
  return records.map(({ sequence }) => sequence)
}

/** A journal in a directory of its own, with a record for each length. */
async function journalWith(lengths: readonly number[], segmentBytes?: number): Promise<string> {
  const directory = await directoryOfTest()
  const { journal } = await openIn(directory, 0, segmentBytes)
  for (const length of lengths) await append(journal, length)
  await journal.close()
  return directory
}

/** Writes the mark of a journal that has acknowledged everything up to `sequence`, as after a loss of power an old one may be there. */
const setMark = (directory: string, sequence: number) =>
  writeFileSync(join(directory, 'journal-mark'), encodeMark(identity, positionAt(sequence)))

describe('a journal', () => {
  it('gives back, after a restart, what was appended since a record', async () => {
    const directory = await journalWith([0, 5, 100_000])
    const again = await openIn(directory, 1)
    expect(again.records).toEqual([recordOf(2, 5), recordOf(3, 100_000)])
    expect(again.journal.nextSequence).toBe(4)
    await again.journal.close()
  })

  it('goes on numbering where it was made to begin', async () => {
    const { journal, records } = await openIn(await directoryOfTest(positionAt(41)), 41)
    expect([records, journal.nextSequence]).toEqual([[], 42])
    await journal.close()
  })

  it('writes over what is safe elsewhere, and over nothing else', async () => {
    const directory = await directoryOfTest()
    const { journal } = await openIn(directory, 0, 100)
    const appended: number[] = []
    while (journal.blockedBy === undefined) appended.push(await append(journal, 40))
    expect(appended).toEqual([1, 2, 3, 4])
    expect(journal.blockedBy).toBe(2)
    expect(await sequencesIn(directory)).toEqual([1, 2, 3, 4])
    await expect(append(journal, 40)).rejects.toThrow('the journal is full')

    journal.release(1)
    expect(journal.blockedBy).toBe(2)
    journal.release(2)
    journal.release(1)
    expect(journal.blockedBy).toBeUndefined()
    await append(journal, 40)
    expect(await sequencesIn(directory, 2)).toEqual([3, 4, 5])
    await journal.close()
  })

  it('takes no record but the next', async () => {
    const { journal } = await openIn(await directoryOfTest())
    await expect(journal.append(recordOf(2, 1))).rejects.toThrow('record 2 does not follow 0')
    await journal.close()
  })

  it('takes the end of an earlier round for what it is', async () => {
    const directory = await directoryOfTest()
    const { journal } = await openIn(directory, 0, 1000)
    for (let count = 0; count < 50; count++) {
      journal.release(await append(journal, 40))
      expect(await sequencesIn(directory, count)).toEqual([count + 1])
    }
    await journal.close()
  })

  it('does not look at the events of what is safe elsewhere', async () => {
    const directory = await journalWith([30, 30, 30])
    const file = join(directory, 'journal-0')
    const bytes = readFileSync(file)
    bytes.writeUInt8(0, fileHeaderBytes + recordHeaderBytes + 3)
    writeFileSync(file, bytes)
    expect(await sequencesIn(directory, 1)).toEqual([2, 3])
  })

  it('keeps its files to their size, for its owner alone', async () => {
    const directory = await directoryOfTest()
    const { journal } = await openIn(directory, 0, 100_000)
    for (let count = 0; count < 100; count++) journal.release(await append(journal, 9_000))
    await journal.close()
    for (const name of journalFileNames) {
      const { size, mode } = statSync(join(directory, name))
      expect(size).toBe(256 * 1024)
      expect(mode & 0o777).toBe(0o600)
    }
  })

  it('grows its files in steps, and writes no more than a record in between', async () => {
    const directory = await directoryOfTest()
    const written: number[] = []
    const { journal } = await Journal.open(
      { files: recordingFiles((bytes) => written.push(bytes)), directory, identity },
      beginning,
    )
    for (let count = 0; count < 3; count++) await append(journal, 1000)
    await append(journal, 256 * 1024)
    await append(journal, 1000)
    await journal.close()
    const record = recordHeaderBytes + 1000
    const large = 2 * 256 * 1024 - fileHeaderBytes - 3 * record
    expect(written).toEqual([256 * 1024 - fileHeaderBytes, record, record, large, record])
  })

  it.runIf(process.platform === 'linux')('has no file open once it is closed', async () => {
    const directory = await directoryOfTest()
    const { journal } = await openIn(directory)
    expect([...openFlags(directory).keys()].sort()).toEqual(['journal-0', 'journal-1', 'journal-mark'])
    await journal.close()
    expect(openFlags(directory).size).toBe(0)
  })

  it.runIf(process.platform === 'linux')('has no file open once opening it has failed', async () => {
    const directory = await directoryOfTest()
    let opened = 0
    const files: DurableFiles = {
      ...hostFiles,
      // The last is the mark, which is opened to be written: three were opened to be read before.
      open: (path, options) => {
        opened += 1
        return opened === 6 ? Promise.reject(new Error('no more files')) : hostFiles.open(path, options)
      },
    }
    await expect(Journal.open({ files, directory, identity }, beginning)).rejects.toThrow('no more files')
    expect(openFlags(directory).size).toBe(0)
  })

  it.runIf(process.platform === 'linux')('writes through O_DSYNC', async () => {
    const directory = await directoryOfTest()
    const { journal } = await openIn(directory)
    const flags = openFlags(directory)
    expect(journalFileNames.map((name) => (flags.get(name) ?? 0) & 0o10000)).toEqual([0o10000, 0o10000])
    await journal.close()
  })
})

describe('a journal whose last record was cut off', () => {
  it('ends before it, wherever that was', async () => {
    const lengths = [30, 0, 50]
    const directory = await journalWith(lengths)
    setMark(directory, 0)
    const file = join(directory, 'journal-0')
    const ends = lengths.map((_, index) =>
      lengths.slice(0, index + 1).reduce((sum, length) => sum + recordHeaderBytes + length, fileHeaderBytes),
    )
    for (let cut = ends.at(-1) ?? 0; cut >= fileHeaderBytes; cut--) {
      truncateSync(file, cut)
      const whole = ends.filter((end) => end <= cut).length
      expect(await sequencesIn(directory)).toEqual([1, 2, 3].slice(0, whole))
    }
  })

  it('does not take a record that somebody stored for one of its own', async () => {
    const forged = recordOf(9, 4)
    const header = encodeRecordHeader(Buffer.alloc(16, 8), forged)
    const directory = await journalWith([10])
    const file = join(directory, 'journal-0')
    const bytes = readFileSync(file)
    const record = { ...recordOf(2, 0), events: Buffer.concat([header, forged.events]) }
    // Cut off: the head of the record is not there.
    bytes.set(record.events, fileHeaderBytes + recordHeaderBytes + 10 + recordHeaderBytes)
    writeFileSync(file, bytes)
    expect(await sequencesIn(directory)).toEqual([1])
  })
})

describe('a damaged journal', () => {
  it('is refused, whichever byte is wrong of what is nowhere else', async () => {
    const directory = await journalWith([3, 3, 3])
    const file = join(directory, 'journal-0')
    const recordBytes = recordHeaderBytes + 3
    const bytes = readFileSync(file)
    const anywhere = fc.nat({ max: 3 * recordBytes - 1 })
    await fc.assert(
      fc.asyncProperty(anywhere, fc.integer({ min: 1, max: 255 }), async (at, difference) => {
        const wrong = Buffer.from(bytes)
        wrong[fileHeaderBytes + at] = (wrong[fileHeaderBytes + at] ?? 0) ^ difference
        writeFileSync(file, wrong)
        const whole = Math.floor(at / recordBytes)
        await expect(openIn(directory)).rejects.toMatchObject({ name: 'StoreDamagedError', safeRevision: whole * 2 })
      }),
      { numRuns: 100 },
    )
  })

  it('is refused when a later record is there, whatever the mark says', async () => {
    const directory = await journalWith([3, 3, 3])
    setMark(directory, 0)
    const file = join(directory, 'journal-0')
    const bytes = readFileSync(file)
    bytes.fill(0, fileHeaderBytes + 43, fileHeaderBytes + 86)
    writeFileSync(file, bytes)
    await expect(openIn(directory)).rejects.toThrow(
      'is damaged: its journal goes on with record 3 where 2 should be; ' +
        'restore the directory as a whole from a backup, or go on from revision 2, the last that is whole',
    )
    expect(await sequencesIn(directory, 2)).toEqual([3])
  })

  it('is refused when the later record is in the other file', async () => {
    const directory = await journalWith([40, 40, 40, 40], 100)
    setMark(directory, 0)
    truncateSync(join(directory, 'journal-0'), fileHeaderBytes + 100)
    await expect(openIn(directory)).rejects.toThrow('its journal goes on with record 3 where 2 should be')
    expect(await sequencesIn(directory, 2)).toEqual([3, 4])
  })

  it('is refused when what was acknowledged last is not there', async () => {
    const directory = await journalWith([3, 3])
    truncateSync(join(directory, 'journal-0'), fileHeaderBytes + 50)
    await expect(openIn(directory)).rejects.toThrow('its journal ends with record 1, and record 2 was acknowledged')
  })

  it('is refused when it does not reach as far as the tables', async () => {
    const directory = await journalWith([3, 3])
    await expect(openIn(directory, 3)).rejects.toThrow(
      'its journal ends with record 2, and record 3 is in the tables already',
    )
  })

  const refusals: readonly [string, (path: (name: string) => string) => void, string][] = [
    ['without a file', (path) => rmSync(path('journal-1')), 'journal-1 is missing'],
    ['without its mark', (path) => rmSync(path('journal-mark')), 'journal-mark is missing'],
    ['with an empty file', (path) => truncateSync(path('journal-0'), 0), 'journal-0 does not begin as a journal does'],
    [
      'with a file of something else',
      (path) => writeFileSync(path('journal-0'), Buffer.alloc(10_000, 1)),
      'journal-0 does not begin as a journal does',
    ],
    [
      'with a mark of something else',
      (path) => writeFileSync(path('journal-mark'), Buffer.alloc(20, 1)),
      'journal-mark does not say how far the journal goes',
    ],
    [
      'with a mark that is cut short',
      (path) => truncateSync(path('journal-mark'), 19),
      'journal-mark does not say how far the journal goes',
    ],
  ]
  it.each(refusals)('is refused %s', async (_, damage, message) => {
    const directory = await journalWith([3])
    damage((name) => join(directory, name))
    await expect(openIn(directory)).rejects.toThrow(message)
  })

  it('is refused whichever byte of a header is wrong', async () => {
    const directory = await journalWith([3])
    const file = join(directory, 'journal-1')
    const bytes = readFileSync(file)
    for (let at = 0; at < 44; at++) {
      const wrong = Buffer.from(bytes)
      wrong[at] = (wrong[at] ?? 0) ^ 64
      writeFileSync(file, wrong)
      await expect(openIn(directory)).rejects.toThrow('journal-1 does not begin as a journal does')
    }
  })

  it('is refused with a file of another store', async () => {
    const directory = await journalWith([3])
    const other = temporaryDirectory()
    onTestFinished(() => other.remove())
    const otherIdentity = Buffer.alloc(16, 9)
    await Journal.create({ files: hostFiles, directory: other.path, identity: otherIdentity }, beginning)
    writeFileSync(join(directory, 'journal-1'), readFileSync(join(other.path, 'journal-1')))
    await expect(openIn(directory)).rejects.toThrow('journal-1 belongs to another store')
  })

  it('is no worse for two files that have changed places', async () => {
    const directory = await journalWith([40, 40, 40, 40], 100)
    const [first, second] = journalFileNames.map((name) => join(directory, name)) as [string, string]
    const contents = readFileSync(first)
    writeFileSync(first, readFileSync(second))
    writeFileSync(second, contents)
    expect(await sequencesIn(directory)).toEqual([1, 2, 3, 4])
  })
})

describe('a journal on a disk that loses its power', () => {
  it('has what was appended, and was there when it was made', async () => {
    for (let seed = 0; seed < 10; seed++) {
      const disk = new SimulatedDisk(seededRandom(seed), 512)
      const options = { files: disk, directory: '/store', identity }
      await Journal.create(options, beginning)
      const made = await Journal.open({ ...options, files: disk.restart() }, beginning)
      expect(made.records).toEqual([])
      const { journal } = await Journal.open(options, beginning)
      await append(journal, 700)
      await append(journal, 10)
      const { records } = await Journal.open({ ...options, files: disk.restart() }, beginning)
      expect(records).toEqual([recordOf(1, 700), recordOf(2, 10)])
    }
  })
})
