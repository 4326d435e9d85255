import { describe, expect, it } from 'vitest'
import { BatchMemory } from './batch-memory.ts'
import { batchMemoryBlockBytes, batchMemoryBlocksMax } from './limits.ts'

const block = batchMemoryBlockBytes
const placeOf = ({ buffer, byteOffset }: Buffer) => ({ buffer, byteOffset })

describe('memory for batches', () => {
  it('is nobody else’s until it is given back', () => {
    const memory = new BatchMemory()
    const taken = Array.from({ length: 100 }, (_, index) => memory.take(block / 8 + index).fill(index))
    expect(
      taken.every((bytes, index) => bytes.length === block / 8 + index && bytes.every((byte) => byte === index)),
    ).toBe(true)
  })

  it('lies one behind the other, and is used again once all of a block is given back', () => {
    const memory = new BatchMemory()
    const [first, second] = [memory.take(100), memory.take(50)]
    expect(placeOf(second)).toEqual({ buffer: first.buffer, byteOffset: 100 })
    memory.giveBack(first)
    const third = memory.take(0)
    expect(placeOf(third)).toEqual({ buffer: first.buffer, byteOffset: 150 })
    memory.giveBack(second)
    memory.giveBack(third)
    expect(placeOf(memory.take(block))).toEqual(placeOf(first))
  })

  it('has more blocks up to a bound, and is new beyond it', () => {
    const memory = new BatchMemory()
    const taken = Array.from({ length: batchMemoryBlocksMax + 2 }, () => memory.take(block))
    expect(new Set(taken.map(({ buffer }) => buffer)).size).toBe(batchMemoryBlocksMax + 2)
    for (const bytes of taken) memory.giveBack(bytes)
    const again = Array.from({ length: batchMemoryBlocksMax + 1 }, () => memory.take(block))
    const isReused = again.map(({ buffer }) => taken.some((bytes) => bytes.buffer === buffer))
    expect(isReused).toEqual([...Array(batchMemoryBlocksMax).fill(true), false])
  })

  it('is new for a batch that is larger than a block', () => {
    const memory = new BatchMemory()
    const large = memory.take(block + 1)
    memory.giveBack(large)
    expect([large.length, memory.take(1).buffer === large.buffer]).toEqual([block + 1, false])
  })

  it('is left to the garbage collection when it is released', () => {
    const memory = new BatchMemory()
    const first = memory.take(1)
    memory.release()
    const second = memory.take(1)
    memory.giveBack(first)
    const third = memory.take(1)
    expect(second.buffer).not.toBe(first.buffer)
    expect(placeOf(third)).toEqual({ buffer: second.buffer, byteOffset: 1 })
  })
})
