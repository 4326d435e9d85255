/** A piece of what a container has written, in a frame of its stream. */
export interface FramePiece {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Buffer
  readonly isFirst: boolean
  readonly isLast: boolean
}

const headerBytes = 8
/** Frames of Docker have up to 16 KiB and a time; one that claims to be much larger is none. */
const frameBytesMax = 64 * 1024 * 1024

/**
 * Takes the streams of a container without a terminal apart, which come as frames: a byte for the stream, three of nothing, four of
 * length, and that many of content. Frames are given in pieces as they come: nothing is kept but half a header.
 * https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
 */
export class FrameReader {
  #header = Buffer.alloc(0)
  #stream: 'stdout' | 'stderr' = 'stdout'
  #left = 0
  #isFirst = false

  #begin(): void {
    const stream = this.#header[0]
    this.#left = this.#header.readUInt32BE(4)
    this.#header = Buffer.alloc(0)
    if (stream === undefined || stream > 2 || this.#left > frameBytesMax)
      throw new Error('the engine has sent something else than frames of a stream')
    this.#stream = stream === 2 ? 'stderr' : 'stdout'
    this.#isFirst = true
  }

  *read(bytes: Buffer): Generator<FramePiece> {
    let rest = bytes
    while (rest.length > 0) {
      if (this.#left === 0 && !this.#isFirst) {
        const missing = headerBytes - this.#header.length
        this.#header = Buffer.concat([this.#header, rest.subarray(0, missing)])
        rest = rest.subarray(missing)
        if (this.#header.length < headerBytes) return
        this.#begin()
        if (this.#left === 0) this.#isFirst = false
        continue
      }
      const content = rest.subarray(0, this.#left)
      rest = rest.subarray(content.length)
      this.#left -= content.length
      yield { stream: this.#stream, bytes: content, isFirst: this.#isFirst, isLast: this.#left === 0 }
      this.#isFirst = false
    }
  }
}
