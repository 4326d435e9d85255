import { constants, writeSync } from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { syncDirectory } from './directories.ts'

/**
 * A file system as far as durability goes. Whatever was not synced may be gone after a loss of power, whole or in
 * pages, in any order; that goes for names in a directory as well. Tests put one in place that forgets just that.
 */
export interface DurableFiles {
  /** Opens a file to read and write it. Rejects with the code ENOENT where there is none and `create` is false. */
  open(path: string, options: OpenOptions): Promise<DurableFile>
  /** Gives a file another name, replacing what has that name. */
  rename(from: string, to: string): Promise<void>
  /** Makes the names in a directory durable. */
  syncDirectory(directory: string): Promise<void>
}

export interface OpenOptions {
  /** Whether the file is made, for its owner alone, when there is none. */
  readonly create: boolean
  /** Whether `write` resolves only when the disk has what was written. */
  readonly synced: boolean
}

export interface DurableFile {
  /** The whole file. */
  read(): Promise<Buffer>
  /** Writes parts one after another, from a position on. */
  write(parts: readonly Uint8Array[], position: number): Promise<void>
  /** Writes before it returns, without waiting for the disk: kept when the process is killed, not when power is lost. */
  writeUnsynced(bytes: Uint8Array, position: number): void
  /** Makes everything written so far durable. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** On Linux a write to a file opened so returns when the disk has it: one call instead of two. */
const { O_CREAT, O_DSYNC = 0, O_RDWR } = constants
const syncsItself = process.platform === 'linux'

/** The host's file system. */
export const hostFiles: DurableFiles = {
  async open(path, { create, synced }) {
    const flags = O_RDWR | (create ? O_CREAT : 0) | (synced && syncsItself ? O_DSYNC : 0)
    return new HostFile(await open(path, flags, 0o600), synced && !syncsItself)
  },
  rename,
  syncDirectory: async (directory) => syncDirectory(directory),
}

class HostFile implements DurableFile {
  readonly #handle: FileHandle
  readonly #syncsAfterWrite: boolean

  constructor(handle: FileHandle, syncsAfterWrite: boolean) {
    this.#handle = handle
    this.#syncsAfterWrite = syncsAfterWrite
  }

  async read(): Promise<Buffer> {
    const { size } = await this.#handle.stat()
    const bytes = Buffer.alloc(size)
    let at = 0
    while (at < size) {
      const { bytesRead } = await this.#handle.read(bytes, at, size - at, at)
      if (bytesRead === 0) break
      at += bytesRead
    }
    return bytes.subarray(0, at)
  }

  async write(parts: readonly Uint8Array[], position: number): Promise<void> {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0)
    const { bytesWritten } = await this.#handle.writev([...parts], position)
    // A write may be cut short, as by a limit on the size of files; the rest then says why.
    if (bytesWritten < bytes) {
      const rest = Buffer.concat(parts).subarray(bytesWritten)
      for (let at = 0; at < rest.length; ) {
        at += (await this.#handle.write(rest, at, rest.length - at, position + bytesWritten + at)).bytesWritten
      }
    }
    if (this.#syncsAfterWrite) await this.#handle.datasync()
  }

  writeUnsynced(bytes: Uint8Array, position: number): void {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(this.#handle.fd, bytes, at, bytes.length - at, position + at)
    }
  }

  async sync(): Promise<void> {
    await this.#handle.sync()
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}
