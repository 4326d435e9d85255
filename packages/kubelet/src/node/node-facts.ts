import { readFileSync } from 'node:fs'
import { arch, cpus, hostname, platform, release, totalmem, type } from 'node:os'
import { canonicalQuantity, type NodeStatus } from '@coracle/api'
import type { Runtime } from '../runtimes/runtime.ts'

/** What a node has and is, as its status shows it. */
export interface NodeFacts {
  readonly hostname: string
  /** In Go's words: `linux`, `darwin`. */
  readonly operatingSystem: string
  /** In Go's words: `amd64`, `arm64`. */
  readonly architecture: string
  readonly kernelVersion: string
  readonly osImage: string
  readonly machineId: string
  readonly bootId: string
  /** The swap space of the machine, in bytes; absent where there is none. */
  readonly swapBytes?: number
  /** What its runtime can do that not every runtime does. */
  readonly features?: NodeStatus['features']
  /** Quantities in canonical form, as the API gives them back: what is reported is compared with it. */
  readonly capacity: Readonly<Record<string, string>>
}

/** Pods of one node, at most: upstream's default. */
export const nodePodsMax = 110

/** Disk that is offered where the host does not say how much it has. */
const ephemeralStorageDefault = '100Gi'

/** What this host is. */
export function hostFacts(): NodeFacts {
  return {
    hostname: hostname().toLowerCase(),
    operatingSystem: platform() === 'win32' ? 'windows' : platform(),
    architecture: goArchitecture(arch()),
    kernelVersion: release(),
    osImage: osImage(),
    machineId: readLine('/etc/machine-id'),
    bootId: readLine('/proc/sys/kernel/random/boot_id'),
    ...swapOf(readText('/proc/meminfo')),
    capacity: capacity(Math.max(1, cpus().length), Math.floor(totalmem() / 1024)),
  }
}

/** A made-up machine of 32 cores and 256 GiB. */
export function simulatedFacts(nodeName: string): NodeFacts {
  return {
    hostname: nodeName,
    operatingSystem: 'linux',
    architecture: 'amd64',
    kernelVersion: '6.12.0',
    osImage: 'Simulated',
    machineId: nodeName,
    bootId: nodeName,
    features: { supplementalGroupsPolicy: true },
    capacity: capacity(32, 256 * 1024 * 1024),
  }
}

/** What a node is whose containers this runtime runs: this host, or a made-up machine. */
export function factsOf(
  { runsProcesses, supportsGroupsPolicy }: Pick<Runtime, 'runsProcesses' | 'supportsGroupsPolicy'>,
  nodeName: string,
): NodeFacts {
  if (!runsProcesses) return simulatedFacts(nodeName)
  if (supportsGroupsPolicy === undefined) return hostFacts()
  return { ...hostFacts(), features: { supplementalGroupsPolicy: supportsGroupsPolicy } }
}

function capacity(cores: number, memoryKi: number): Readonly<Record<string, string>> {
  return {
    cpu: String(cores),
    memory: canonicalQuantity(`${memoryKi}Ki`),
    pods: String(nodePodsMax),
    'ephemeral-storage': ephemeralStorageDefault,
  }
}

/** Of `/proc/meminfo` (proc(5)). */
export function swapOf(meminfo: string): Pick<NodeFacts, 'swapBytes'> {
  const kibibytes = Number(/^SwapTotal:\s*(\d+) kB$/m.exec(meminfo)?.[1] ?? 0)
  return kibibytes === 0 ? {} : { swapBytes: kibibytes * 1024 }
}

function goArchitecture(name: string): string {
  return name === 'x64' ? 'amd64' : name === 'ia32' ? '386' : name
}

function osImage(): string {
  const match = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(readText('/etc/os-release'))
  return match?.[1] ?? `${type()} ${release()}`
}

function readLine(path: string): string {
  return readText(path).trim()
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
