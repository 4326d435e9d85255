import { Duplex } from 'node:stream'

/** Both ends of a connection in memory: what is written to one is read from the other, no faster than that takes it. */
export function connectionPair(): readonly [Duplex, Duplex] {
  const a = new PairedEnd()
  const b = new PairedEnd()
  a.other = b
  b.other = a
  return [a, b]
}

class PairedEnd extends Duplex {
  other: PairedEnd | undefined
  /** Lets the other end go on, which waits for room here. */
  #onRoom: (() => void) | undefined

  override _read(): void {
    const onRoom = this.#onRoom
    this.#onRoom = undefined
    onRoom?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.other?.accept(chunk, callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    if (this.other?.destroyed === false) this.other.push(null)
    callback()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#onRoom?.()
    const { other } = this
    this.other = undefined
    other?.destroy()
    callback(error)
  }

  accept(chunk: Buffer, callback: () => void): void {
    // Not in the turn of the writer, as with sockets.
    queueMicrotask(() => {
      if (this.destroyed || this.push(chunk)) callback()
      else this.#onRoom = callback
    })
  }
}
