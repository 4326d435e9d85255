import {
  atomicList,
  boolean,
  int32,
  int64,
  literal,
  mapOf,
  object,
  optional,
  pointer,
  quantity,
  required,
  setList,
  string,
  time,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { conditionOf } from '../../meta/condition.ts'
import { coreV1 } from '../../meta/names.ts'
import { resourceList } from '../common.ts'
import { keyedList } from './lists.ts'
import type { StopSignal } from './probe.ts'
import { resourceRequirements } from './resources.ts'

/** How far a pod is in its life. Succeeded and Failed are final. */
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'

/** How well the pod's resources are guaranteed, and so who is evicted first. */
export type PodQosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'

export type ConditionStatus = 'True' | 'False' | 'Unknown'

export interface ContainerStateWaiting extends Infer<typeof containerStateWaiting> {}
export const containerStateWaiting = object(`${coreV1}.ContainerStateWaiting`, 'The container has yet to start.', {
  reason: optional(string(), 'Why, in one word, such as ImagePullBackOff.'),
  message: optional(string(), 'Why, in a sentence.'),
})

export interface ContainerStateRunning extends Infer<typeof containerStateRunning> {}
export const containerStateRunning = object(`${coreV1}.ContainerStateRunning`, 'The container runs.', {
  startedAt: optional(time, 'When it was last started.', { byValue: true }),
})

export interface ContainerStateTerminated extends Infer<typeof containerStateTerminated> {}
export const containerStateTerminated = object(`${coreV1}.ContainerStateTerminated`, 'The container has ended.', {
  exitCode: required(int32(), 'Exit code of its process.', { absenceIsToldByRules: true }),
  signal: optional(int32(), 'Signal that ended it, where one did.'),
  reason: optional(string(), 'How it ended, in one word, such as Completed, Error or OOMKilled.'),
  message: optional(string(), 'Its last words.'),
  startedAt: optional(time, 'When this run of it began.', { byValue: true }),
  finishedAt: optional(time, 'When it ended.', { byValue: true }),
  containerID: optional(string(), 'ID of the container, such as containerd://….'),
})

export interface ContainerState extends Infer<typeof containerState> {}
export const containerState = object(
  `${coreV1}.ContainerState`,
  'What a container is doing: one of these, waiting where none is there.',
  {
    waiting: optional(containerStateWaiting, 'It has yet to start.'),
    running: optional(containerStateRunning, 'It runs.'),
    terminated: optional(containerStateTerminated, 'It has ended.'),
  },
)

export interface LinuxContainerUser extends Infer<typeof linuxContainerUser> {}
export const linuxContainerUser = object(`${coreV1}.LinuxContainerUser`, 'The user the first process started as.', {
  uid: required(int64(), 'Its UID.', { absenceIsToldByRules: true }),
  gid: required(int64(), 'Its GID.', { absenceIsToldByRules: true }),
  supplementalGroups: optional(atomicList(int64()), 'Its further groups.'),
})

export interface ContainerUser extends Infer<typeof containerUser> {}
export const containerUser = object(`${coreV1}.ContainerUser`, 'The user the first process started as.', {
  linux: optional(linuxContainerUser, 'On Linux.'),
})

export interface ImageVolumeStatus extends Infer<typeof imageVolumeStatus> {}
export const imageVolumeStatus = object(`${coreV1}.ImageVolumeStatus`, 'The image behind an image volume.', {
  imageRef: required(string(), 'The image by digest, at most 256 characters.', { absenceIsToldByRules: true }),
})

export interface VolumeStatus extends Infer<typeof volumeStatus> {}
export const volumeStatus = object(`${coreV1}.VolumeStatus`, 'What a mounted volume turned out to be.', {
  image: optional(imageVolumeStatus, 'For image volumes.'),
})

export interface VolumeMountStatus extends Infer<typeof volumeMountStatus> {}
export const volumeMountStatus = object(`${coreV1}.VolumeMountStatus`, 'How a volume was mounted.', {
  name: required(string(), 'Name of the mount.', { absenceIsToldByRules: true }),
  mountPath: required(string(), 'Path of the mount.', { absenceIsToldByRules: true }),
  readOnly: optional(boolean, 'Whether it is read-only.'),
  recursiveReadOnly: pointer(
    literal<'Disabled' | 'Enabled' | 'IfPossible'>(),
    'Whether mounts below it are read-only too: Enabled or Disabled in the end.',
  ),
  volumeStatus: optional(volumeStatus, 'What the volume turned out to be.'),
})

export interface ResourceHealth extends Infer<typeof resourceHealth> {}
export const resourceHealth = object(`${coreV1}.ResourceHealth`, 'How well one device is.', {
  resourceID: required(string(), 'ID of the device.', { absenceIsToldByRules: true }),
  health: optional(literal<'Healthy' | 'Unhealthy' | 'Unknown'>(), 'Healthy, Unhealthy or Unknown.'),
  message: pointer(string(), 'More about it.'),
})

export interface ResourceStatus extends Infer<typeof resourceStatus> {}
export const resourceStatus = object(`${coreV1}.ResourceStatus`, 'How well the devices of one resource are.', {
  name: required(string(), 'Name of the resource, or of a claim as claim:name/request.', {
    absenceIsToldByRules: true,
  }),
  resources: optional(keyedList(resourceHealth, ['resourceID'], { patchStrategy: undefined }), 'Its devices.'),
})

export interface ContainerStatus extends Infer<typeof containerStatus> {}
export const containerStatus = object(`${coreV1}.ContainerStatus`, 'How a container is.', {
  name: required(string(), 'Name of the container.', { default: '' }),
  state: optional(containerState, 'What it is doing now.', { default: {} }),
  lastState: optional(containerState, 'How its last run ended.', { default: {} }),
  ready: required(boolean, 'Whether its readiness check succeeds.', { default: false }),
  restartCount: required(int32(), 'How often it was restarted.', { default: 0 }),
  image: required(string(), 'Image it runs.', { default: '' }),
  imageID: required(string(), 'ID of that image: empty until it is known.', { default: '' }),
  containerID: optional(string(), 'ID of the container, such as containerd://….'),
  started: pointer(boolean, 'Whether it runs, has passed its startup check and its postStart hook is done.'),
  allocatedResources: optional(resourceList, 'What the node has reserved for it.'),
  resources: optional(resourceRequirements, 'What is in force for it now.'),
  volumeMounts: optional(keyedList(volumeMountStatus, ['mountPath']), 'How its volumes were mounted.'),
  user: optional(containerUser, 'The user its first process started as.'),
  allocatedResourcesStatus: optional(keyedList(resourceStatus, ['name']), 'How well its devices are.'),
  stopSignal: pointer(literal<StopSignal>(), 'Signal that asks it to end.'),
})

export interface PodCondition extends Infer<typeof podCondition> {}
export const podCondition = conditionOf(
  `${coreV1}.PodCondition`,
  'One thing that is so, or is not, or is not known.',
  'Name of the condition, such as Ready or PodScheduled.',
  {
    status: required(literal<ConditionStatus | ''>(), 'True, False or Unknown.', { default: '' }),
    observedGeneration: optional(int64(), 'Generation of the pod that this was said of.'),
    lastProbeTime: optional(time, 'When it was last looked at.', { byValue: true }),
  },
)

export interface PodIp extends Infer<typeof podIp> {}
export const podIp = object(`${coreV1}.PodIP`, 'An address of the pod.', {
  ip: required(string(), 'The address.', { absenceIsToldByRules: true }),
})

export interface HostIp extends Infer<typeof hostIp> {}
export const hostIp = object(`${coreV1}.HostIP`, 'An address of the node.', {
  ip: required(string(), 'The address.', { absenceIsToldByRules: true }),
})

export interface PodResourceClaimStatus extends Infer<typeof podResourceClaimStatus> {}
export const podResourceClaimStatus = object(
  `${coreV1}.PodResourceClaimStatus`,
  'What came of one of the pod’s resource claims.',
  {
    name: required(string(), 'Name of the entry in resourceClaims.', { absenceIsToldByRules: true }),
    resourceClaimName: pointer(string(), 'Name of the ResourceClaim made for it; none where none was needed.'),
  },
)

export interface ContainerExtendedResourceRequest extends Infer<typeof containerExtendedResourceRequest> {}
export const containerExtendedResourceRequest = object(
  `${coreV1}.ContainerExtendedResourceRequest`,
  'Which request of a claim stands for an extended resource of a container.',
  {
    containerName: required(string(), 'The container.', { absenceIsToldByRules: true }),
    resourceName: required(string(), 'The extended resource.', { absenceIsToldByRules: true }),
    requestName: required(string(), 'The request in the claim.', { absenceIsToldByRules: true }),
  },
)

export interface PodExtendedResourceClaimStatus extends Infer<typeof podExtendedResourceClaimStatus> {}
export const podExtendedResourceClaimStatus = object(
  `${coreV1}.PodExtendedResourceClaimStatus`,
  'The claim made for extended resources that dynamic allocation provides.',
  {
    requestMappings: required(atomicList(containerExtendedResourceRequest), 'Which request stands for what.', {
      absenceIsToldByRules: true,
    }),
    resourceClaimName: required(string(), 'Name of the claim.', { absenceIsToldByRules: true }),
  },
)

export interface NodeAllocatableResourceClaimStatus extends Infer<typeof nodeAllocatableResourceClaimStatus> {}
export const nodeAllocatableResourceClaimStatus = object(
  `${coreV1}.NodeAllocatableResourceClaimStatus`,
  'Resources of the node that were allocated through a claim.',
  {
    resourceClaimName: required(string(), 'Name of the claim.', { absenceIsToldByRules: true }),
    containers: optional(setList(string()), 'Containers that use it.'),
    resources: required(mapOf(quantity), 'What was allocated.', { absenceIsToldByRules: true }),
  },
)

export interface PodStatus extends Infer<typeof podStatus> {}
export const podStatus = object(`${coreV1}.PodStatus`, 'Phase, conditions, addresses and containers of a pod.', {
  phase: optional(literal<PodPhase>(), 'Pending, Running, Succeeded, Failed or Unknown.'),
  conditions: optional(keyedList(podCondition, ['type']), 'What is so and what is not, such as Ready.'),
  message: optional(string(), 'Why the pod is in this state, in a sentence.'),
  reason: optional(string(), 'Why the pod is in this state, in one word, such as Evicted.'),
  nominatedNodeName: optional(string(), 'Node where other pods are being removed to make room for this one.'),
  observedGeneration: optional(int64(), 'Generation of the pod that the status was said of.'),
  hostIP: optional(string(), 'Address of the node.'),
  hostIPs: optional(
    atomicList(hostIp, { patchStrategy: 'merge', patchMergeKey: 'ip' }),
    'Addresses of the node, the first being hostIP.',
  ),
  podIP: optional(string(), 'Address of the pod.'),
  podIPs: optional(keyedList(podIp, ['ip']), 'Addresses of the pod, one of each family, the first being podIP.'),
  startTime: optional(time, 'When the node agent first saw the pod, before it pulled images.'),
  initContainerStatuses: optional(atomicList(containerStatus), 'How init containers are.'),
  containerStatuses: optional(atomicList(containerStatus), 'How containers are.'),
  ephemeralContainerStatuses: optional(atomicList(containerStatus), 'How ephemeral containers are.'),
  qosClass: optional(literal<PodQosClass>(), 'Guaranteed, Burstable or BestEffort, from requests and limits.'),
  resize: optional(string(), 'How far a change of resources is. Conditions say it now.'),
  resourceClaimStatuses: optional(
    keyedList(podResourceClaimStatus, ['name'], { patchStrategy: 'merge,retainKeys' }),
    'What came of its resource claims.',
  ),
  extendedResourceClaimStatus: optional(podExtendedResourceClaimStatus, 'The claim made for its extended resources.'),
  nodeAllocatableResourceClaimStatuses: optional(
    atomicList(nodeAllocatableResourceClaimStatus),
    'Resources of the node allocated through claims.',
  ),
  allocatedResources: optional(resourceList, 'What the node has reserved for the pod as a whole.'),
  resources: optional(resourceRequirements, 'What is in force for the pod as a whole.'),
})
