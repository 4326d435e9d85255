import type { AccessMode } from '@coracle/api'
import type { Encodable } from '@coracle/environment/grpc'
import { accessModes, nodeCapabilities, type volumeCapability } from '../wire/messages.ts'

export interface MountWishes {
  /** The first counts. */
  readonly accessModes: readonly AccessMode[]
  readonly fsType: string
  readonly mountOptions: readonly string[]
  /** The group that the pod names. */
  readonly fsGroup: number | undefined
}

/** How a volume is to be used, for a driver that has these capabilities: upstream's newVolumeCapability. Pure. */
export function capabilityOf(
  wishes: MountWishes,
  capabilities: ReadonlySet<number>,
): Encodable<typeof volumeCapability> {
  const { fsType, mountOptions, fsGroup } = wishes
  const mountsForGroup = fsGroup !== undefined && capabilities.has(nodeCapabilities.volumeMountGroup)
  return {
    mount: {
      fsType,
      mountFlags: mountOptions,
      ...(mountsForGroup ? { volumeMountGroup: String(fsGroup) } : {}),
    },
    accessMode: { mode: modeOf(wishes, capabilities.has(nodeCapabilities.singleNodeMultiWriter)) },
  }
}

function modeOf({ accessModes: [mode] }: MountWishes, tellsWriters: boolean): number {
  switch (mode) {
    case 'ReadOnlyMany':
      return accessModes.multiNodeReaderOnly
    case 'ReadWriteMany':
      return accessModes.multiNodeMultiWriter
    case 'ReadWriteOncePod':
      return tellsWriters ? accessModes.singleNodeSingleWriter : accessModes.singleNodeWriter
    default:
      return tellsWriters ? accessModes.singleNodeMultiWriter : accessModes.singleNodeWriter
  }
}
