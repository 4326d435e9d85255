import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type AddressPool, createAddressPool } from '../../addresses.ts'

/** Addresses of one node: more than the pods it takes. */
export const nodeAddressesMax = 254
/** Nodes of one data directory: ranges 127.1.0.0/24 to 127.254.255.0/24. */
export const nodeRangesMax = 254 * 256

/**
 * The addresses of a node's pods: a /24 of 127.0.0.0/8, all of which is this host on Linux, so that pods can listen on
 * the same port without root or network namespaces. Nodes of one data directory have different ranges, and a node keeps
 * its own. Other data directories of this host begin elsewhere, by a hash of their path: nothing tells clusters of each
 * other, and containers outlive theirs. Undefined on other systems, where only 127.0.0.1 is there: pods share it.
 */
export function nodeAddressPool(directory: string, nodeName: string): AddressPool | undefined {
  if (process.platform !== 'linux') return undefined
  const index = rangeOf(join(directory, 'address-ranges.json'), directory, nodeName)
  return createAddressPool(`127.${1 + Math.floor(index / 256)}.${index % 256}.1`, nodeAddressesMax)
}

/** Ranges of pods that one of services takes the place of: a /20, which is 4,094 services. */
const nodeRangesPerServiceRange = 16
const serviceRangesMax = nodeRangesMax / nodeRangesPerServiceRange

/**
 * A range for the addresses of a cluster's services that are this host as well, so that a proxy without root can listen there: a
 * /20 of 127.0.0.0/8, half way round from where the pods of the same data directory begin. Undefined on other systems.
 */
export function hostServiceCidr(directory: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  const own = Math.floor(firstRangeOf(directory) / nodeRangesPerServiceRange)
  const index = ((own + serviceRangesMax / 2) % serviceRangesMax) * nodeRangesPerServiceRange
  return `127.${1 + Math.floor(index / 256)}.${index % 256}.0/20`
}

const firstRangeOf = (directory: string): number =>
  createHash('sha256').update(resolve(directory)).digest().readUInt32BE() % nodeRangesMax

function rangeOf(path: string, directory: string, nodeName: string): number {
  const ranges = readRanges(path)
  const known = ranges[nodeName]
  if (known !== undefined) return known
  const used = new Set(Object.values(ranges))
  if (used.size >= nodeRangesMax)
    throw new Error(`no pod address range left for node ${nodeName}: ${nodeRangesMax} nodes have one`)
  let index = firstRangeOf(directory)
  while (used.has(index)) index = (index + 1) % nodeRangesMax
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, JSON.stringify({ ...ranges, [nodeName]: index }))
  renameSync(`${path}.new`, path)
  return index
}

function readRanges(path: string): Readonly<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, number>>
  } catch {
    return {}
  }
}
