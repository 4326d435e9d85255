import {
  atomicList,
  boolean,
  int32,
  int64,
  mapList,
  object,
  optional,
  pointer,
  required,
  string,
  time,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { conditionOf } from '../../meta/condition.ts'
import { coreV1 } from '../../meta/names.ts'
import { resourceList } from '../common.ts'
import { nodeConfigSource } from './node-spec.ts'

export interface NodeAddress extends Infer<typeof nodeAddress> {}
export const nodeAddress = object(`${coreV1}.NodeAddress`, 'One way to reach a node.', {
  type: required(string(), 'What it is: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.', {
    default: '',
  }),
  address: required(string(), 'The address itself.', { default: '' }),
})

export interface NodeCondition extends Infer<typeof nodeCondition> {}
export const nodeCondition = conditionOf(
  `${coreV1}.NodeCondition`,
  'One aspect of how a node is.',
  'What it is about, such as Ready or DiskPressure.',
  { lastHeartbeatTime: optional(time, 'When the node last said so.', { byValue: true }) },
)

export interface NodeConfigStatus extends Infer<typeof nodeConfigStatus> {}
export const nodeConfigStatus = object(
  `${coreV1}.NodeConfigStatus`,
  'Where a node got its configuration from, when it came from the API. No longer used.',
  {
    assigned: optional(nodeConfigSource, 'The configuration the node is to use.'),
    active: optional(nodeConfigSource, 'The configuration the node uses.'),
    lastKnownGood: optional(nodeConfigSource, 'The configuration the node falls back to.'),
    error: optional(string(), 'What went wrong with the assigned one.'),
  },
)

export interface DaemonEndpoint extends Infer<typeof daemonEndpoint> {}
export const daemonEndpoint = object(`${coreV1}.DaemonEndpoint`, 'Where a daemon listens.', {
  Port: required(int32(), 'Its port.', { default: 0 }),
})

export interface NodeDaemonEndpoints extends Infer<typeof nodeDaemonEndpoints> {}
export const nodeDaemonEndpoints = object(`${coreV1}.NodeDaemonEndpoints`, 'Where the daemons of a node listen.', {
  kubeletEndpoint: optional(daemonEndpoint, 'Where the node agent serves logs and exec.', {
    default: { Port: 0 },
    byValue: true,
  }),
})

export interface NodeSwapStatus extends Infer<typeof nodeSwapStatus> {}
export const nodeSwapStatus = object(`${coreV1}.NodeSwapStatus`, 'Swap space of a node.', {
  capacity: pointer(int64(), 'How much there is, in bytes.'),
})

export interface NodeSystemInfo extends Infer<typeof nodeSystemInfo> {}
export const nodeSystemInfo = object(`${coreV1}.NodeSystemInfo`, 'What a node is and runs.', {
  machineID: required(string(), 'Identity of the machine, as its operating system knows it.', { default: '' }),
  systemUUID: required(string(), 'Identity of the machine, as its firmware knows it.', { default: '' }),
  bootID: required(string(), 'Identity of the current boot.', { default: '' }),
  kernelVersion: required(string(), 'Version of the kernel.', { default: '' }),
  osImage: required(string(), 'Name and version of the operating system.', { default: '' }),
  containerRuntimeVersion: required(string(), 'Container runtime and its version: containerd://2.1.0.', {
    default: '',
  }),
  kubeletVersion: required(string(), 'Version of the node agent.', { default: '' }),
  kubeProxyVersion: required(string(), 'No longer filled in with anything of use.', { default: '' }),
  operatingSystem: required(string(), 'Operating system, such as linux.', { default: '' }),
  architecture: required(string(), 'Processor architecture, such as amd64.', { default: '' }),
  swap: optional(nodeSwapStatus, 'Swap space.'),
})

export interface ContainerImage extends Infer<typeof containerImage> {}
export const containerImage = object(`${coreV1}.ContainerImage`, 'An image that is on a node.', {
  names: optional(atomicList(string()), 'The names it is known by, with tags and digests.', { alwaysWritten: true }),
  sizeBytes: optional(int64(), 'Its size in bytes.'),
})

export interface AttachedVolume extends Infer<typeof attachedVolume> {}
export const attachedVolume = object(`${coreV1}.AttachedVolume`, 'A volume that is attached to a node.', {
  name: required(string(), 'Name of the volume.', { default: '' }),
  devicePath: required(string(), 'Device the volume is on.', { default: '' }),
})

export interface NodeRuntimeHandlerFeatures extends Infer<typeof nodeRuntimeHandlerFeatures> {}
export const nodeRuntimeHandlerFeatures = object(
  `${coreV1}.NodeRuntimeHandlerFeatures`,
  'What a runtime handler can do.',
  {
    recursiveReadOnlyMounts: pointer(boolean, 'Whether it can mount a tree read-only.'),
    userNamespaces: pointer(boolean, 'Whether it can give pods users of their own.'),
  },
)

export interface NodeRuntimeHandler extends Infer<typeof nodeRuntimeHandler> {}
export const nodeRuntimeHandler = object(
  `${coreV1}.NodeRuntimeHandler`,
  'One way in which a node can run containers.',
  {
    name: optional(string(), 'Name of the handler; empty for the default one.', { default: '' }),
    features: optional(nodeRuntimeHandlerFeatures, 'What it can do.'),
  },
)

export interface NodeFeatures extends Infer<typeof nodeFeatures> {}
export const nodeFeatures = object(`${coreV1}.NodeFeatures`, 'What the container runtime of a node can do.', {
  supplementalGroupsPolicy: pointer(boolean, 'Whether it honours supplementalGroupsPolicy of pods.'),
})

export interface NodeStatus extends Infer<typeof nodeStatus> {}
export const nodeStatus = object(`${coreV1}.NodeStatus`, 'How a node is, as its agent last said.', {
  capacity: optional(resourceList, 'What the machine has, by resource.'),
  allocatable: optional(resourceList, 'What of it pods can have. All of it unless set.'),
  phase: optional(string(), 'No longer filled in; see conditions.'),
  conditions: optional(
    mapList(nodeCondition, ['type'], { duplicates: 'allowed' }),
    'How the node is, by type: Ready above all.',
  ),
  addresses: optional(
    // Nodes of two IP families have two addresses of one type.
    mapList(nodeAddress, ['type'], { duplicates: 'allowed' }),
    'How to reach the node.',
  ),
  daemonEndpoints: optional(nodeDaemonEndpoints, 'Where the daemons of the node listen.', {
    default: {},
    byValue: true,
  }),
  nodeInfo: optional(nodeSystemInfo, 'What the node is and runs.', {
    default: {} as NodeSystemInfo,
    byValue: true,
  }),
  images: optional(atomicList(containerImage), 'Images that are on the node.'),
  volumesInUse: optional(atomicList(string()), 'Volumes that are mounted, and must not be detached.'),
  volumesAttached: optional(atomicList(attachedVolume), 'Volumes that are attached.'),
  config: optional(nodeConfigStatus, 'Where the configuration of the node came from. No longer used.'),
  runtimeHandlers: optional(atomicList(nodeRuntimeHandler), 'The ways in which the node can run containers.'),
  features: optional(nodeFeatures, 'What the container runtime can do.'),
  declaredFeatures: optional(atomicList(string()), 'Features of Kubernetes that the node says it has, in order.'),
})
