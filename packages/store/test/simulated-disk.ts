import type { Random } from '@coracle/environment'
import type { DurableFile, DurableFiles, OpenOptions } from '../src/durable-files.ts'

/** What every call on a disk rejects with once its power is gone. */
export class PowerLostError extends Error {
  override readonly name = 'PowerLostError'
}

interface Contents {
  /** As programs see the file. */
  readonly cached: GrowingBytes
  /** As it is on the disk. */
  readonly durable: GrowingBytes
  /** The pages in which the two may differ. */
  readonly dirty: Set<number>
}

/**
 * A disk that keeps, when its power is lost, what was synced, and of the rest whatever `random` says: any of the pages that
 * were written, any of the names that were given. It loses its power in the middle of a call, when it is told to.
 */
export class SimulatedDisk implements DurableFiles {
  readonly #random: Random
  readonly #pageBytes: number
  readonly #files = new Map<string, Contents>()
  readonly #durableFiles = new Map<string, Contents>()
  /** Names given or taken since their directory was last synced. */
  readonly #dirtyNames = new Set<string>()
  #callsLeft = Infinity
  #isLost = false
  /** Called at the moment the power is lost. */
  onPowerLost: () => void = () => {}
  /** Called when a directory has been synced. */
  onSynced: (directory: string) => void = () => {}

  constructor(random: Random, pageBytes: number) {
    this.#random = random
    this.#pageBytes = pageBytes
  }

  /** Loses its power during the call after `calls` more. */
  loseAfter(calls: number): void {
    this.#callsLeft = calls
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** The disk as it is found when the power is back. */
  restart(): SimulatedDisk {
    const disk = new SimulatedDisk(this.#random, this.#pageBytes)
    for (const path of new Set([...this.#files.keys(), ...this.#durableFiles.keys()])) {
      const isKept = this.#dirtyNames.has(path) && this.#flip()
      const contents = (isKept ? this.#files : this.#durableFiles).get(path)
      if (contents === undefined) continue
      const durable = this.#afterLoss(contents)
      const kept: Contents = { cached: durable.copy(), durable, dirty: new Set() }
      disk.#files.set(path, kept)
      disk.#durableFiles.set(path, kept)
    }
    return disk
  }

  async open(path: string, { create, synced }: OpenOptions): Promise<DurableFile> {
    const isLosing = this.#call()
    let contents = this.#files.get(path)
    if (contents === undefined) {
      if (!create) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
      contents = { cached: new GrowingBytes(), durable: new GrowingBytes(), dirty: new Set() }
      this.#files.set(path, contents)
      this.#dirtyNames.add(path)
    }
    this.#loseIf(isLosing)
    return this.#fileOf(contents, synced)
  }

  async rename(from: string, to: string): Promise<void> {
    const isLosing = this.#call()
    const contents = this.#files.get(from)
    if (contents === undefined) throw Object.assign(new Error(`ENOENT: ${from}`), { code: 'ENOENT' })
    this.#files.delete(from)
    this.#files.set(to, contents)
    this.#dirtyNames.add(from).add(to)
    this.#loseIf(isLosing)
  }

  async syncDirectory(directory: string): Promise<void> {
    this.#loseIf(this.#call())
    for (const path of [...this.#dirtyNames]) {
      if (path.slice(0, path.lastIndexOf('/')) !== directory) continue
      const contents = this.#files.get(path)
      if (contents === undefined) this.#durableFiles.delete(path)
      else this.#durableFiles.set(path, contents)
      this.#dirtyNames.delete(path)
    }
    this.onSynced(directory)
  }

  #fileOf(contents: Contents, synced: boolean): DurableFile {
    return {
      read: async () => {
        this.#loseIf(this.#call())
        return Buffer.from(contents.cached.all)
      },
      write: async (parts, position) => {
        const isLosing = this.#call()
        const pages = this.#put(contents, Buffer.concat(parts), position)
        this.#loseIf(isLosing)
        if (synced) for (const page of pages) this.#flush(contents, page)
      },
      writeUnsynced: (bytes, position) => {
        const isLosing = this.#call()
        // The system writes pages back whenever it likes.
        for (const page of this.#put(contents, Buffer.from(bytes), position)) {
          if (this.#random.next() < 0.1) this.#flush(contents, page)
        }
        this.#loseIf(isLosing)
      },
      sync: async () => {
        this.#loseIf(this.#call())
        for (const page of [...contents.dirty]) this.#flush(contents, page)
      },
      close: async () => {},
    }
  }

  #put(contents: Contents, bytes: Buffer, position: number): number[] {
    contents.cached.put(bytes, position)
    const pages: number[] = []
    for (let page = Math.floor(position / this.#pageBytes); page * this.#pageBytes < position + bytes.length; page++) {
      pages.push(page)
      contents.dirty.add(page)
    }
    return pages
  }

  #flush(contents: Contents, page: number): void {
    this.#putPage(contents.durable, contents.cached, page)
    contents.dirty.delete(page)
  }

  #afterLoss({ durable, cached, dirty }: Contents): GrowingBytes {
    const found = durable.copy()
    for (const page of dirty) if (this.#flip()) this.#putPage(found, cached, page)
    return found
  }

  /** Puts a page of another version of the file into `bytes`. */
  #putPage(bytes: GrowingBytes, from: GrowingBytes, page: number): void {
    const start = page * this.#pageBytes
    bytes.put(from.all.subarray(start, start + this.#pageBytes), start)
  }

  #call(): boolean {
    if (this.#isLost) throw new PowerLostError()
    return this.#callsLeft-- <= 0
  }

  #loseIf(isLosing: boolean): void {
    if (!isLosing) return
    this.#isLost = true
    this.onPowerLost()
    throw new PowerLostError()
  }

  #flip(): boolean {
    return this.#random.next() < 0.5
  }
}

/** Bytes with room behind them, so that a file that grows page by page is not copied for each of them. */
class GrowingBytes {
  #room = Buffer.alloc(0)
  #length = 0

  get all(): Buffer {
    return this.#room.subarray(0, this.#length)
  }

  /** What lies between the end and `position` is zero. */
  put(bytes: Buffer, position: number): void {
    const end = position + bytes.length
    if (end > this.#room.length) {
      const room = Buffer.alloc(2 * end)
      this.all.copy(room)
      this.#room = room
    }
    bytes.copy(this.#room, position)
    this.#length = Math.max(this.#length, end)
  }

  copy(): GrowingBytes {
    const copy = new GrowingBytes()
    copy.put(this.all, 0)
    return copy
  }
}
