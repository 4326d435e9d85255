import { readWhole, writeWhole } from '../whole-file.ts'
import type { ClaimName, PreparedDevice } from './device-driver.ts'

/** A claim of which pods of a node have devices, or may have. */
export interface ClaimRecord extends ClaimName {
  readonly podUids: readonly string[]
  /** By the name of the driver: undefined of one that has yet to say which. */
  readonly devices: Readonly<Record<string, readonly PreparedDevice[] | null>>
}

/** What is on disk of them, which outlives the agent: drivers have to be told when nobody has them any more. */
interface RecordFile {
  readonly claims: readonly ClaimRecord[]
}

/** Keeps claims on disk. What is written at the same moment is written once. */
export class ClaimRecords {
  readonly #path: string
  readonly #claims = new Map<string, ClaimRecord>()
  #loading: Promise<void> | undefined
  /** Never rejects. */
  #writing: Promise<void> = Promise.resolve()
  /** The write that is about to begin. */
  #nextWrite: Promise<void> | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Reads them, once. Rejects where that cannot be done: no device may be given to another then. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`it cannot be read which devices pods have: drain the node and remove ${this.#path} (${why})`)
    })
    return this.#loading
  }

  all(): readonly ClaimRecord[] {
    return [...this.#claims.values()]
  }

  get(uid: string): ClaimRecord | undefined {
    return this.#claims.get(uid)
  }

  /** Resolves when it is on disk. */
  set(record: ClaimRecord): Promise<void> {
    this.#claims.set(record.uid, record)
    return this.#write()
  }

  /** Resolves when it is gone from there. */
  delete(uid: string): Promise<void> {
    this.#claims.delete(uid)
    return this.#write()
  }

  async #load(): Promise<void> {
    const { claims = [] } = ((await readWhole(this.#path)) ?? {}) as Partial<RecordFile>
    for (const claim of claims) this.#claims.set(claim.uid, claim)
  }

  #write(): Promise<void> {
    if (this.#nextWrite !== undefined) return this.#nextWrite
    const written = this.#writing.then(async () => {
      this.#nextWrite = undefined
      await writeWhole(this.#path, { claims: this.all() } satisfies RecordFile)
    })
    this.#nextWrite = written
    this.#writing = written.catch(() => {})
    return written
  }
}
