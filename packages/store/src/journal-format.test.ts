import { describe, expect, it } from 'vitest'
import { identity, positionAt, recordOf } from '../test/journal-records.ts'
import {
  decodeFileHeader,
  decodeMark,
  encodeFileHeader,
  encodeMark,
  encodeRecordHeader,
  fileHeaderBytes,
  findRecords,
} from './journal-format.ts'

const header = encodeFileHeader(identity, positionAt(3))

/** A file of these records, with what stands between them. */
const fileOf = (...parts: (number | Buffer)[]) =>
  Buffer.concat([
    header,
    ...parts.flatMap((part) => {
      if (typeof part !== 'number') return [part]
      const record = recordOf(part, 5)
      return [encodeRecordHeader(identity, record), record.events]
    }),
  ])

describe('the header of a journal file', () => {
  it('says whose the file is and where it begins', () => {
    expect(header).toHaveLength(fileHeaderBytes)
    expect(decodeFileHeader(header)).toEqual({ identity, position: positionAt(3) })
    expect(decodeFileHeader(fileOf(4))).toEqual({ identity, position: positionAt(3) })
  })

  it.each([0, 1, 8, 40, 47, 48, 100, fileHeaderBytes - 1])('is none when it is cut off after %i bytes', (length) => {
    expect(decodeFileHeader(header.subarray(0, length))).toBeUndefined()
  })

  it('is none where something else stands', () => {
    expect(decodeFileHeader(Buffer.alloc(fileHeaderBytes, 1))).toBeUndefined()
  })
})

describe('the mark of a journal', () => {
  it('says how far the journal was acknowledged', () => {
    expect(decodeMark(identity, encodeMark(identity, positionAt(3)))).toEqual(positionAt(3))
  })

  it('is none of another store, nor with a byte more or less', () => {
    const mark = encodeMark(identity, positionAt(3))
    expect(decodeMark(Buffer.alloc(16, 9), mark)).toBeUndefined()
    expect(decodeMark(identity, Buffer.concat([mark, Buffer.alloc(1)]))).toBeUndefined()
    expect(decodeMark(identity, mark.subarray(0, -1))).toBeUndefined()
  })
})

describe('the records of a journal file', () => {
  const sequencesIn = (bytes: Buffer, after = 0) =>
    findRecords(identity, bytes, after).records.map(({ sequence }) => sequence)

  it('are found one behind the other, and behind what is none', () => {
    expect(sequencesIn(fileOf())).toEqual([])
    expect(sequencesIn(fileOf(1, 2))).toEqual([1, 2])
    expect(sequencesIn(fileOf(Buffer.alloc(3), 1, Buffer.from('cJr\x01', 'latin1'), 2, Buffer.alloc(50)))).toEqual([
      1, 2,
    ])
  })

  it('are whole: one whose end is missing is none', () => {
    const bytes = fileOf(1, 2)
    expect(sequencesIn(bytes.subarray(0, -1))).toEqual([1])
    expect(findRecords(identity, bytes.subarray(0, -1), 2).newest).toEqual(positionAt(1))
  })

  it.each([1, 2, 3])('are none where the events of number %i are not what was written', (damaged) => {
    const bytes = fileOf(1, 2, 3)
    const recordBytes = (bytes.length - fileHeaderBytes) / 3
    const end = fileHeaderBytes + damaged * recordBytes
    bytes.writeUInt8((bytes.at(end - 1) ?? 0) ^ 1, end - 1)
    expect(sequencesIn(bytes)).toEqual([1, 2, 3].filter((each) => each !== damaged))
  })

  it('are those after a sequence; the newest of all is told in any case', () => {
    const { records, newest } = findRecords(identity, fileOf(1, 3, 2), 1)
    expect(records).toEqual([recordOf(3, 5), recordOf(2, 5)])
    expect(newest).toEqual(positionAt(3))
    expect(findRecords(identity, fileOf(1), 1)).toEqual({ records: [], newest: positionAt(1) })
    expect(findRecords(identity, fileOf(), 0).newest).toEqual({ sequence: 0, revision: 0 })
  })

  it('keep what they carry when the file is overwritten', () => {
    const bytes = fileOf(1)
    const { records } = findRecords(identity, bytes, 0)
    bytes.fill(0)
    expect(records).toEqual([recordOf(1, 5)])
  })

  it('are looked at as far as they are needed: the events of what is safe elsewhere are not', () => {
    const bytes = fileOf(1, 2)
    bytes.fill(0, bytes.length - 1)
    expect(sequencesIn(bytes, 0)).toEqual([1])
    expect(findRecords(identity, bytes, 2).newest).toEqual(positionAt(2))
  })
})
