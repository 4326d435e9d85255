import { closeSync, existsSync, openSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Random, realEnvironment, seededRandom, silentLogger } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { openLmdbStoreOn } from '../src/lmdb-store.ts'
import type { Operation, SoleWriterStore } from '../src/store.ts'
import { text } from './contract.ts'
import { PowerLostError, SimulatedDisk } from './simulated-disk.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/**
 * LMDB's file as it is on the disk at this moment. LMDB may be writing it: the roots are read first, and what they lead
 * to is not overwritten before there are two new ones.
 */
function readDataFile(path: string): Buffer | undefined {
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(statSync(path).size)
    const rootBytes = readSync(file, bytes, 0, Math.min(8192, bytes.length), 0)
    readSync(file, bytes, rootBytes, bytes.length - rootBytes, rootBytes)
    return bytes
  } finally {
    closeSync(file)
  }
}

/** A store whose machine loses its power, again and again; what it has acknowledged is written down beside. */
class Machine {
  readonly #random: Random
  readonly #directory: string
  readonly #identityFile = '/data/store-id'
  #disk: SimulatedDisk
  /** The value of each key, by everything that was acknowledged. */
  readonly #acknowledged = new Map<string, string | undefined>()
  /** What was under way when the power went: each may have been carried out, or not. */
  #attempted = new Map<string, Set<string | undefined>>()
  #revision = 0
  /** Whether the store has been open: from then on what belongs to it must be there. */
  #isMade = false
  #count = 0

  constructor(random: Random, directory: string) {
    this.#random = random
    this.#directory = directory
    this.#disk = new SimulatedDisk(random, random.next() < 0.5 ? 512 : 4096)
  }

  /** Runs until the power goes, and leaves the directory as it is found after. */
  async runUntilLoss(calls: number): Promise<void> {
    const path = join(this.#directory, 'data.mdb')
    let isNamed = existsSync(path)
    let left: Buffer | undefined
    this.#disk.onSynced = (directory) => {
      if (directory === this.#directory && existsSync(path)) isNamed = true
    }
    this.#disk.onPowerLost = () => {
      left = readDataFile(path)
    }
    this.#disk.loseAfter(calls)
    let store: SoleWriterStore | undefined
    try {
      store = await this.#open()
      this.#isMade = true
      await this.#verify(store)
      for (;;) await this.#work(store)
    } catch (error) {
      if (!this.#disk.isLost) throw error
    }
    await store?.close().catch((error: unknown) => expect(error).toBeInstanceOf(PowerLostError))
    rmSync(path, { force: true })
    const isLost = !isNamed && this.#random.next() < 0.5
    if (left !== undefined && !isLost) writeFileSync(path, left)
    this.#disk = this.#disk.restart()
    if (this.#isMade) await this.#disk.open(this.#identityFile, { create: false, synced: false })
  }

  async verifyLast(): Promise<void> {
    const store = await this.#open()
    await this.#verify(store)
    await store.close()
  }

  #open(): Promise<SoleWriterStore> {
    // Every loss of power is logged as a store that failed: a hundred lines nobody needs.
    const environment = realEnvironment(silentLogger)
    return openLmdbStoreOn(this.#disk, { directory: this.#directory, identityFile: this.#identityFile, environment })
  }

  async #verify(store: SoleWriterStore): Promise<void> {
    expect(store.latest()).toBeGreaterThanOrEqual(this.#revision)
    const found = new Map((await store.list('')).entries.map(({ key, value }) => [key, text(value)]))
    for (const key of new Set([...found.keys(), ...this.#acknowledged.keys()])) {
      const possible = this.#attempted.get(key) ?? new Set()
      if (!possible.has(found.get(key))) expect([key, found.get(key)]).toEqual([key, this.#acknowledged.get(key)])
      this.#acknowledged.set(key, found.get(key))
    }
    this.#attempted = new Map()
    this.#revision = store.latest()
  }

  async #work(store: SoleWriterStore): Promise<void> {
    if (this.#random.next() < 0.1) await store.list('')
    const writers = 1 + Math.floor(this.#random.next() * 4)
    await Promise.all(Array.from({ length: writers }, () => this.#commit(store)))
  }

  async #commit(store: SoleWriterStore): Promise<void> {
    const key = `k${Math.floor(this.#random.next() * 20)}`
    const value = `${this.#count++} `.padEnd(this.#random.next() * 6000, '.')
    const isDelete = this.#random.next() < 0.2
    const operation: Operation = isDelete ? { type: 'delete', key } : { type: 'put', key, value: Buffer.from(value) }
    const outcome = isDelete ? undefined : value
    const attempts = this.#attempted.get(key) ?? new Set()
    this.#attempted.set(key, attempts.add(outcome))
    const result = await store.commit({ conditions: [], operations: [operation] })
    attempts.delete(outcome)
    this.#acknowledged.set(key, outcome)
    if (result.ok) this.#revision = Math.max(this.#revision, result.revision)
  }
}

describe('a store whose machine loses its power', () => {
  it.each(Array.from({ length: 8 }, (_, seed) => seed))('has what it acknowledged, run %i', async (seed) => {
    const directory = temporaryDirectory()
    const random = seededRandom(seed)
    try {
      const machine = new Machine(random, directory.path)
      // The first calls are those that make the store.
      for (let round = 0; round < 30; round++)
        await machine.runUntilLoss(Math.floor(random.next() * (round < 12 ? 30 : 80)))
      await machine.verifyLast()
    } finally {
      directory.remove()
    }
  })
})
