import { dirname } from 'node:path'
import type { FileSystem, NewFile } from '../private-files.ts'

/** What a file holds, and what it holds after a loss of power. */
interface Contents {
  text: string
  synced: string
}

/** A change of names that a directory's sync has not made durable yet. */
interface NameChange {
  readonly removed?: string
  readonly added?: readonly [string, Contents]
}

/** What is left when the machine or the process stops. */
export interface Aftermath {
  readonly name: string
  /** Whether the n-th change of names that was not synced is there all the same: disks may write them in any order. */
  readonly keepsName: (index: number) => boolean
  /** Whether data that was not synced is there. */
  readonly keepsData: boolean
}

export const aftermaths: readonly Aftermath[] = [
  { name: 'kill -9', keepsName: () => true, keepsData: true },
  { name: 'a power cut that keeps all names', keepsName: () => true, keepsData: false },
  { name: 'a power cut that keeps no new name', keepsName: () => false, keepsData: false },
  { name: 'a power cut that keeps every second new name', keepsName: (index) => index % 2 === 0, keepsData: false },
  { name: 'a power cut that keeps the others', keepsName: (index) => index % 2 === 1, keepsData: false },
]

/** A file system in memory that stops at its n-th operation, and forgets what was not synced. */
export class VolatileFiles implements FileSystem {
  #names = new Map<string, Contents>()
  #durableNames = new Map<string, Contents>()
  #changes: NameChange[] = []
  #operationsLeft: number
  #stopped = false

  /** `operationsMax` are carried out; the next one fails half done. */
  constructor(operationsMax = Number.POSITIVE_INFINITY) {
    this.#operationsLeft = operationsMax
  }

  /** Whether it has refused an operation. */
  get stopped(): boolean {
    return this.#stopped
  }

  /** The file system as the next start finds it. */
  after({ keepsName, keepsData }: Aftermath, operationsMax?: number): VolatileFiles {
    const names = new Map(this.#durableNames)
    for (const [index, change] of this.#changes.entries()) if (keepsName(index)) apply(names, change)
    const next = new VolatileFiles(operationsMax)
    for (const [path, { text, synced }] of names) {
      const left = keepsData ? text : synced
      const contents = { text: left, synced: left }
      next.#names.set(path, contents)
      next.#durableNames.set(path, contents)
    }
    return next
  }

  async read(path: string): Promise<string | undefined> {
    this.#begin()
    return this.#names.get(path)?.text
  }

  async makeDirectory(): Promise<void> {
    this.#begin()
  }

  async remove(path: string): Promise<void> {
    this.#begin()
    if (this.#names.has(path)) this.#change({ removed: path })
  }

  async create(path: string): Promise<NewFile> {
    this.#begin()
    if (this.#names.has(path)) throw new Error(`${path} exists`)
    const contents = { text: '', synced: '' }
    this.#change({ added: [path, contents] })
    return {
      write: async (text) => {
        contents.text = text.slice(0, text.length / 2)
        this.#begin()
        contents.text = text
      },
      sync: async () => {
        this.#begin()
        contents.synced = contents.text
      },
      close: async () => {},
    }
  }

  async rename(from: string, to: string): Promise<void> {
    this.#begin()
    const contents = this.#names.get(from)
    if (contents === undefined) throw new Error(`${from} is missing`)
    this.#change({ removed: from, added: [to, contents] })
  }

  async syncDirectory(directory: string): Promise<void> {
    this.#begin()
    const isOfDirectory = ({ removed, added }: NameChange) => dirname(added?.[0] ?? removed ?? '') === directory
    for (const change of this.#changes.filter(isOfDirectory)) apply(this.#durableNames, change)
    this.#changes = this.#changes.filter((change) => !isOfDirectory(change))
  }

  #begin(): void {
    if (this.#operationsLeft === 0) {
      this.#stopped = true
      throw new Error('stopped')
    }
    this.#operationsLeft--
  }

  #change(change: NameChange): void {
    apply(this.#names, change)
    this.#changes.push(change)
  }
}

function apply(names: Map<string, Contents>, { removed, added }: NameChange): void {
  if (removed !== undefined) names.delete(removed)
  if (added !== undefined) names.set(...added)
}
