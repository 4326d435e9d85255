import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { writeBehindBytesMax, writeBehindChangesMax, writeBehindDelayMs, writtenKeptBytesMax } from './limits.ts'
import { encodeEvents } from './log-record.ts'
import type { StoreEvent } from './store.ts'
import { type JournaledBatch, WriteBehind } from './write-behind.ts'

const put = (key: string, revision: number, length = 1): StoreEvent => ({
  type: 'put',
  key,
  value: new Uint8Array(length),
  revision,
  createRevision: revision,
  previousRevision: 0,
})

const batch = (sequence: number, ...events: StoreEvent[]): JournaledBatch => ({
  sequence,
  revision: sequence,
  compacted: 0,
  events,
  encoded: encodeEvents(events, 0),
})

/** Tables that finish a write when the test says so. */
function harness() {
  const { clock } = virtualEnvironment()
  const writes: { readonly sequences: number[]; readonly done: () => void; readonly fail: (error: Error) => void }[] =
    []
  const written: number[] = []
  const failures: unknown[] = []
  const behind = new WriteBehind({
    clock,
    write: (batches) =>
      new Promise((done, fail) => writes.push({ sequences: batches.map(({ sequence }) => sequence), done, fail })),
    onWritten: ({ sequence }) => written.push(sequence),
    onFailed: (cause) => failures.push(cause),
  })
  return { clock, behind, writes, written, failures }
}

describe('writing behind', () => {
  it('writes what gathers in a while at once', async () => {
    const { clock, behind, writes, written } = harness()
    behind.add(batch(1, put('a', 1)))
    behind.add(batch(2, put('b', 2)))
    await clock.advance(writeBehindDelayMs - 1)
    expect(writes).toEqual([])
    await clock.advance(1)
    expect(writes.map(({ sequences }) => sequences)).toEqual([[1, 2]])
    writes[0]?.done()
    await clock.settle()
    expect([written, behind.batches]).toEqual([[1, 2], []])
  })

  it('does not wait when much has gathered', async () => {
    const { behind, writes } = harness()
    behind.add(batch(1, put('a', 1)))
    expect(writes).toEqual([])
    behind.add(batch(2, put('b', 2, writeBehindBytesMax)))
    expect(writes).toHaveLength(1)
  })

  it('knows the newest of what the tables do not have', async () => {
    const { clock, behind, writes } = harness()
    behind.add(batch(1, put('a', 1)))
    await clock.advance(writeBehindDelayMs)
    behind.add(batch(2, put('a', 2), { ...put('b', 2), type: 'delete' }))
    writes[0]?.done()
    await clock.settle()
    expect(behind.get('a')).toMatchObject({ modRevision: 2 })
    expect(behind.get('b')).toBe('deleted')
    await clock.advance(writeBehindDelayMs)
    writes[1]?.done()
    await clock.settle()
    behind.forgetWritten()
    expect([behind.get('a'), behind.get('b')]).toEqual([undefined, undefined])
  })

  it('still knows what was written last, so many bytes of it', async () => {
    const { clock, behind, writes } = harness()
    const write = async (...batches: readonly JournaledBatch[]) => {
      for (const each of batches) behind.add(each)
      await clock.advance(writeBehindDelayMs)
      writes.at(-1)?.done()
      await clock.settle()
    }
    const revisions = (...keys: readonly string[]) =>
      keys.map((key) => {
        const changed = behind.get(key)
        return typeof changed === 'object' ? changed.modRevision : changed
      })
    const half = writtenKeptBytesMax / 2
    await write(batch(1, put('a', 1), put('b', 1)), batch(2), batch(3, { ...put('c', 3), type: 'delete' }))
    expect(revisions('a', 'b', 'c', 'd')).toEqual([1, 1, 'deleted', undefined])
    await write(batch(4, put('a', 4, half)))
    await write(batch(5, put('a', 5)))
    expect(revisions('a', 'b', 'c')).toEqual([5, 1, 'deleted'])
    await write(batch(6, put('d', 6, half)))
    expect(revisions('a', 'b', 'c', 'd')).toEqual([5, undefined, undefined, 6])
    await write(batch(7, put('e', 7, half)))
    expect(revisions('a', 'd', 'e')).toEqual([undefined, undefined, 7])
  })

  it('knows all that the tables do not have, however much it is', async () => {
    const { clock, behind, writes } = harness()
    const keys = Array.from({ length: 8 }, (_, index) => `k${index}`)
    const half = writtenKeptBytesMax / 2
    const isKnown = (key: string) => behind.get(key) !== undefined
    for (const [index, key] of keys.entries()) behind.add(batch(index + 1, put(key, index + 1, half)))
    expect(keys.filter(isKnown)).toEqual(keys)
    while (behind.batches.length > 0) {
      writes.at(-1)?.done()
      await clock.advance(writeBehindDelayMs)
      const missing = behind.batches.map(({ sequence }) => keys[sequence - 1] as string)
      expect(missing.filter(isKnown)).toEqual(missing)
    }
    for (const sequence of [9, 10]) {
      behind.add(batch(sequence, put('last', sequence, half)))
      await clock.advance(writeBehindDelayMs)
      writes.at(-1)?.done()
      await clock.settle()
    }
    expect(keys.filter(isKnown)).toEqual([])
  })

  it('forgets nothing that the tables do not have when it is told to forget', async () => {
    const { clock, behind, writes } = harness()
    behind.add(batch(1, put('a', 1)))
    await clock.advance(writeBehindDelayMs)
    behind.add(batch(2, put('b', 2)))
    writes[0]?.done()
    await clock.settle()
    behind.forgetWritten()
    expect(['a', 'b'].map((key) => behind.get(key))).toMatchObject([{ modRevision: 1 }, { modRevision: 2 }])
  })

  it('tells when the tables have a batch, without waiting for later ones', async () => {
    const { clock, behind, writes } = harness()
    behind.add(batch(1, put('a', 1)))
    let told = false
    const first = behind.until(1).then(() => {
      told = true
    })
    behind.add(batch(2, put('b', 2)))
    await clock.settle()
    expect([writes.length, told]).toEqual([1, false])
    writes[0]?.done()
    await clock.settle()
    expect([told, behind.batches.map(({ sequence }) => sequence)]).toEqual([true, [2]])
    await first
  })

  it('stops at the first failure, and keeps nobody waiting', async () => {
    const { clock, behind, writes, written, failures } = harness()
    behind.add(batch(1, put('a', 1)))
    const settled = behind.settled()
    writes[0]?.fail(new Error('no space left'))
    await settled
    expect(failures).toEqual([new Error('no space left')])
    behind.add(batch(2, put('b', 2)))
    await behind.settled()
    await clock.advance(writeBehindDelayMs)
    expect([writes.length, written]).toEqual([1, []])
    expect(behind.get('a')).toMatchObject({ modRevision: 1 })
  })

  it('writes so many changes at once, and a batch never in parts', async () => {
    const { clock, behind, writes } = harness()
    const batchOf = (sequence: number, changes: number) =>
      batch(sequence, ...Array.from({ length: changes }, (_, index) => put(`${sequence}/${index}`, sequence)))
    const half = writeBehindChangesMax / 2
    const sizes = [half, half, 1, 2 * writeBehindChangesMax, 1]
    for (const [index, size] of sizes.entries()) behind.add(batchOf(index + 1, size))
    for (let count = 0; count < 4; count++) {
      await clock.advance(writeBehindDelayMs)
      writes[count]?.done()
    }
    await clock.settle()
    expect(writes.map(({ sequences }) => sequences)).toEqual([[1, 2], [3], [4], [5]])
  })

  it('is in no hurry again once much has been written', async () => {
    const { clock, behind, writes } = harness()
    behind.add(batch(1, put('a', 1, writeBehindBytesMax)))
    behind.add(batch(2, put('b', 2)))
    expect(writes).toHaveLength(1)
    writes[0]?.done()
    await clock.settle()
    behind.add(batch(3, put('c', 3)))
    await clock.advance(writeBehindDelayMs - 1)
    expect(writes).toHaveLength(1)
    await clock.advance(1)
    expect(writes.map(({ sequences }) => sequences)).toEqual([[1], [2, 3]])
  })

  it('does not write what was written because somebody waited for it', async () => {
    const { clock, behind, writes } = harness()
    behind.add(batch(1, put('a', 1)))
    void behind.until(1)
    writes[0]?.done()
    await clock.advance(2 * writeBehindDelayMs)
    expect(writes).toHaveLength(1)
  })

  it('keeps nobody waiting for what the tables have, or for nothing', async () => {
    const { clock, behind, writes } = harness()
    await behind.settled()
    behind.add(batch(5, put('a', 1)))
    await behind.until(4)
    expect(writes).toEqual([])
    let isSettled = false
    const settled = behind.settled().then(() => {
      isSettled = true
    })
    await clock.settle()
    expect([writes.length, isSettled]).toEqual([1, false])
    writes[0]?.done()
    await settled
  })

  describe('that is paused', () => {
    const paused = (behind: WriteBehind) => {
      const calls: string[] = []
      const over = behind.pause(() => void calls.push('called'))
      return { calls, over }
    }

    it('is not while something is being written', async () => {
      const { clock, behind, writes } = harness()
      behind.add(batch(1, put('a', 1)))
      await clock.advance(writeBehindDelayMs)
      const { calls } = paused(behind)
      await clock.settle()
      expect(calls).toEqual([])
      writes[0]?.done()
      await clock.settle()
      expect(calls).toEqual(['called'])
    })

    it('leaves what waits to be written, and goes on', async () => {
      const { clock, behind, writes } = harness()
      behind.add(batch(1, put('a', 1)))
      const { calls, over } = paused(behind)
      await clock.settle()
      await over
      expect([calls, writes]).toEqual([['called'], []])
      await clock.advance(writeBehindDelayMs)
      expect(writes.map(({ sequences }) => sequences)).toEqual([[1]])
    })

    it('waits for what began to be written meanwhile, too', async () => {
      const { clock, behind, writes } = harness()
      behind.add(batch(1, put('a', 1)))
      await clock.advance(writeBehindDelayMs)
      const { calls } = paused(behind)
      behind.add(batch(2, put('b', 2, writeBehindBytesMax)))
      writes[0]?.done()
      await clock.settle()
      expect([calls, writes.length]).toEqual([[], 2])
      writes[1]?.done()
      await clock.settle()
      expect(calls).toEqual(['called'])
    })

    it('is not after writing has failed', async () => {
      const { clock, behind, writes } = harness()
      behind.add(batch(1, put('a', 1)))
      await clock.advance(writeBehindDelayMs)
      const { calls, over } = paused(behind)
      writes[0]?.fail(new Error('disk full'))
      await clock.settle()
      await over
      expect(calls).toEqual([])
    })
  })
})
