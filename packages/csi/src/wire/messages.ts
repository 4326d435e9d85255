import { message } from '@coracle/environment/grpc-messages'

/*
 * What is used of the Container Storage Interface v1 and of plugin registration v1, as data: names as in csi.proto and the api.proto of
 * kubelet/pkg/apis/pluginregistration, numbers as on the wire.
 * https://github.com/container-storage-interface/spec/blob/master/csi.proto
 */

export const empty = message({})

export const pluginInfo = message({
  type: [1, 'string'],
  name: [2, 'string'],
  endpoint: [3, 'string'],
  supportedVersions: [4, ['string']],
})

export const registrationStatus = message({ pluginRegistered: [1, 'bool'], error: [2, 'string'] })

export const nodeGetInfoResponse = message({
  nodeId: [1, 'string'],
  maxVolumesPerNode: [2, 'int64'],
  accessibleTopology: [3, message({ segments: [1, 'map'] })],
})

/** Values of `NodeServiceCapability.RPC.Type`. */
export const nodeCapabilities = {
  stageUnstageVolume: 1,
  singleNodeMultiWriter: 5,
  volumeMountGroup: 6,
} as const

export const nodeGetCapabilitiesResponse = message({
  capabilities: [1, [message({ rpc: [1, message({ type: [1, 'int32'] })] })]],
})

/** Values of `VolumeCapability.AccessMode.Mode`. */
export const accessModes = {
  singleNodeWriter: 1,
  multiNodeReaderOnly: 3,
  multiNodeMultiWriter: 5,
  singleNodeSingleWriter: 6,
  singleNodeMultiWriter: 7,
} as const

export const volumeCapability = message({
  mount: [2, message({ fsType: [1, 'string'], mountFlags: [2, ['string']], volumeMountGroup: [3, 'string'] })],
  accessMode: [3, message({ mode: [1, 'int32'] })],
})

export const nodeStageVolumeRequest = message({
  volumeId: [1, 'string'],
  publishContext: [2, 'map'],
  stagingTargetPath: [3, 'string'],
  volumeCapability: [4, volumeCapability],
  secrets: [5, 'map'],
  volumeContext: [6, 'map'],
})

export const nodeUnstageVolumeRequest = message({ volumeId: [1, 'string'], stagingTargetPath: [2, 'string'] })

export const nodePublishVolumeRequest = message({
  volumeId: [1, 'string'],
  publishContext: [2, 'map'],
  stagingTargetPath: [3, 'string'],
  targetPath: [4, 'string'],
  volumeCapability: [5, volumeCapability],
  readonly: [6, 'bool'],
  secrets: [7, 'map'],
  volumeContext: [8, 'map'],
})

export const nodeUnpublishVolumeRequest = message({ volumeId: [1, 'string'], targetPath: [2, 'string'] })
