import { batchMemoryBlockBytes, batchMemoryBlocksMax } from './limits.ts'

interface Block {
  readonly bytes: Buffer
  /** Bytes from the beginning that have been taken. */
  used: number
  /** How many of those who took some have not given it back. */
  takers: number
}

/**
 * Memory for encoded batches, used again once the tables have them. New memory for each batch costs more than what is written to it: the
 * system makes every page zero first. No part of Buffer's pool, since LMDB reads it from another thread.
 */
export class BatchMemory {
  #blocks: Block[] = []

  /** Bytes that nobody else has until they are given back. */
  take(size: number): Buffer {
    let block = this.#blocks.find(({ bytes, used }) => used + size <= bytes.length)
    if (block === undefined) {
      if (size > batchMemoryBlockBytes || this.#blocks.length === batchMemoryBlocksMax)
        return Buffer.allocUnsafeSlow(size)
      block = { bytes: Buffer.allocUnsafeSlow(batchMemoryBlockBytes), used: 0, takers: 0 }
      this.#blocks.push(block)
    }
    const start = block.used
    block.used += size
    block.takers += 1
    return block.bytes.subarray(start, block.used)
  }

  /** Takes back what nobody looks at any longer, neither here nor in another thread. */
  giveBack({ buffer }: Uint8Array): void {
    const block = this.#blocks.find(({ bytes }) => bytes.buffer === buffer)
    if (block === undefined) return
    block.takers -= 1
    if (block.takers === 0) block.used = 0
  }

  /** Leaves all of it to the garbage collection, what is taken as soon as nobody looks at it. */
  release(): void {
    this.#blocks = []
  }
}
