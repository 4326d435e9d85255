import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '@coracle/environment'

/** Another state of the store, and another store, to take files from. */
export interface Donors {
  readonly older: string
  readonly foreign: string
}

/** A way of damaging a store. It says what it did, or undefined where there was nothing to do it to. */
export type Damage = (directory: string, random: Random, donors: Donors) => string | undefined

const upTo = (random: Random, count: number): number => Math.floor(random.next() * count)
const pick = <T>(random: Random, all: readonly T[]): T | undefined => all[upTo(random, all.length)]

/** The files that hold what was acknowledged, or how far it goes. */
export const storeFiles = ['data.mdb', 'journal-0', 'journal-1', 'journal-mark', 'lock.mdb'] as const

const pageBytes = 4096

/** A file, and a position in it, half of the time near the beginning, where most is. */
function place(
  directory: string,
  random: Random,
): { name: string; path: string; bytes: Buffer; at: number } | undefined {
  const name = pick(
    random,
    storeFiles.filter((each) => existsSync(join(directory, each))),
  )
  if (name === undefined) return undefined
  const path = join(directory, name)
  const bytes = readFileSync(path)
  if (bytes.length === 0) return undefined
  const within = random.next() < 0.5 ? Math.min(bytes.length, 16 * pageBytes) : bytes.length
  return { name, path, bytes, at: upTo(random, within) }
}

export const damages: Readonly<Record<string, Damage>> = {
  flip(directory, random) {
    const found = place(directory, random)
    if (found === undefined) return undefined
    const { name, path, bytes, at } = found
    bytes[at] = (bytes[at] ?? 0) ^ (1 << upTo(random, 8))
    writeFileSync(path, bytes)
    return `a bit of byte ${at} of ${name} flipped`
  },
  zeroPage(directory, random) {
    const found = place(directory, random)
    if (found === undefined) return undefined
    const { name, path, bytes, at } = found
    const page = Math.floor(at / pageBytes)
    bytes.fill(0, page * pageBytes, Math.min((page + 1) * pageBytes, bytes.length))
    writeFileSync(path, bytes)
    return `page ${page} of ${name} zeroed`
  },
  movePage(directory, random) {
    const found = place(directory, random)
    if (found === undefined || found.bytes.length < 2 * pageBytes) return undefined
    const { name, path, bytes, at } = found
    const pages = Math.floor(bytes.length / pageBytes)
    const [from, to] = [upTo(random, pages), Math.min(Math.floor(at / pageBytes), pages - 1)]
    bytes.copy(bytes, to * pageBytes, from * pageBytes, (from + 1) * pageBytes)
    writeFileSync(path, bytes)
    return `page ${from} of ${name} written over page ${to}`
  },
  truncate(directory, random) {
    const found = place(directory, random)
    if (found === undefined) return undefined
    truncateSync(found.path, found.at)
    return `${found.name} cut to ${found.at} bytes`
  },
  remove(directory, random) {
    const name = pick(random, storeFiles)
    if (name === undefined) return undefined
    rmSync(join(directory, name), { force: true })
    return `${name} removed`
  },
  swap(directory, random) {
    const [one, other] = [pick(random, storeFiles), pick(random, storeFiles)]
    if (one === undefined || other === undefined || one === other) return undefined
    const path = (name: string) => join(directory, name)
    if (!existsSync(path(one)) || !existsSync(path(other))) return undefined
    renameSync(path(one), path('aside'))
    renameSync(path(other), path(one))
    renameSync(path('aside'), path(other))
    return `${one} and ${other} swapped`
  },
  foreign: (directory, random, { foreign }) => replace(directory, random, foreign, 'that of another store'),
  stale: (directory, random, { older }) => replace(directory, random, older, 'an older one'),
  empty(directory) {
    for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true })
    return 'the directory emptied'
  },
}

function replace(directory: string, random: Random, from: string, what: string): string | undefined {
  const name = pick(random, storeFiles)
  if (name === undefined || !existsSync(join(from, name))) return undefined
  cpSync(join(from, name), join(directory, name))
  return `${name} replaced with ${what}`
}
