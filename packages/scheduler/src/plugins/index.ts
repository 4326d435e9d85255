import type { DeviceBinder } from '../devices/device-binder.ts'
import type { DeviceCache } from '../devices/device-cache.ts'
import type { Storage } from '../storage/storage.ts'
import type { VolumeBinder } from '../storage/volume-binder.ts'
import { dynamicResources } from './dynamic-resources.ts'
import { imageLocality } from './image-locality.ts'
import { interPodAffinity } from './inter-pod-affinity.ts'
import { nodeAffinity } from './node-affinity.ts'
import { nodeDeclaredFeatures } from './node-declared-features.ts'
import { nodeName } from './node-name.ts'
import { nodePorts } from './node-ports.ts'
import { balancedAllocation, nodeResourcesFit } from './node-resources.ts'
import { nodeUnschedulable } from './node-unschedulable.ts'
import { nodeVolumeLimits } from './node-volume-limits.ts'
import type { Plugin } from './plugin.ts'
import { podTopologySpread } from './pod-topology-spread.ts'
import { taintToleration } from './taint-toleration.ts'
import { volumeBinding } from './volume-binding.ts'
import { volumeRestrictions } from './volume-restrictions.ts'
import { volumeZone } from './volume-zone.ts'

/** That which sees to devices. */
export const devicePlugins = (devices: DeviceCache, binder: DeviceBinder): readonly Plugin[] => [
  dynamicResources(devices, binder),
]

/** Those that see to volumes, in the order they are asked. Each scheduler has its own, which know what it knows. */
export const volumePlugins = (storage: Storage, binder: VolumeBinder): readonly Plugin[] => [
  volumeRestrictions(storage),
  nodeVolumeLimits(storage),
  volumeBinding(storage, binder),
  volumeZone(storage),
]

/** In the order they are asked: the first to refuse a node gives the reason. */
export const defaultPlugins: readonly Plugin[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  balancedAllocation,
  podTopologySpread,
  interPodAffinity,
  imageLocality,
  nodeDeclaredFeatures,
]
