import { decode, encode } from '@coracle/environment/grpc'
import type { Allocation, Allocations } from './allocations.ts'
import { containerAllocateResponse } from './messages.ts'
import { readWhole, writeWhole } from './whole-file.ts'

/** What of a node's devices outlives its agent. */
export interface DeviceCheckpoint {
  readonly allocations: ReturnType<Allocations['all']>
  /** Resources that plugins have registered, with their healthy devices. */
  readonly registered: ReadonlyMap<string, readonly string[]>
}

/** Devices of no NUMA node in particular. */
const noNumaNode = '-1'

/** As upstream's kubelet writes it, whose file others read; nobody has use for its checksum, which is one of Go's own. */
interface CheckpointFile {
  readonly Data: {
    readonly PodDeviceEntries:
      | readonly {
          readonly PodUID: string
          readonly ContainerName: string
          readonly ResourceName: string
          readonly DeviceIDs: Readonly<Record<string, readonly string[]>>
          /** A `ContainerAllocateResponse`, in base64. */
          readonly AllocResp: string
        }[]
      | null
    readonly RegisteredDevices: Readonly<Record<string, readonly string[] | null>> | null
  }
  readonly Checksum: number
}

/** Writes it whole or not at all: who reads it finds the one before, or this. */
export async function writeCheckpoint(path: string, { allocations, registered }: DeviceCheckpoint): Promise<void> {
  const content: CheckpointFile = {
    Data: {
      PodDeviceEntries: allocations.map(({ podUid, container, resource, deviceIds, parts }) => ({
        PodUID: podUid,
        ContainerName: container,
        ResourceName: resource,
        DeviceIDs: { [noNumaNode]: deviceIds },
        AllocResp: Buffer.from(encode(containerAllocateResponse, parts)).toString('base64'),
      })),
      RegisteredDevices: Object.fromEntries(registered),
    },
    Checksum: 0,
  }
  await writeWhole(path, content)
}

/** Undefined where none was written. Rejects where it cannot be read. */
export async function readCheckpoint(path: string): Promise<DeviceCheckpoint | undefined> {
  const content = (await readWhole(path)) as CheckpointFile | undefined
  if (content === undefined) return undefined
  const { Data } = content
  const allocations = (Data.PodDeviceEntries ?? []).map(
    (entry): Allocation & DeviceCheckpoint['allocations'][number] => ({
      podUid: entry.PodUID,
      container: entry.ContainerName,
      resource: entry.ResourceName,
      deviceIds: Object.values(entry.DeviceIDs).flat(),
      parts: decode(containerAllocateResponse, Buffer.from(entry.AllocResp, 'base64')),
    }),
  )
  const registered = Object.entries(Data.RegisteredDevices ?? {}).map(([name, ids]) => [name, ids ?? []] as const)
  return { allocations, registered: new Map(registered) }
}
