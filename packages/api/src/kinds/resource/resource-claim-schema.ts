import { kindSchema, objectMeta } from '../../meta.ts'
import {
  anyObject,
  atomicList,
  boolean,
  literal,
  mapList,
  mapOf,
  object,
  optional,
  pointer,
  quantity,
  required,
  string,
  time,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { nodeSelector } from '../core/common.ts'
import { condition } from '../meta/condition.ts'
import { deviceClaim, deviceToleration, opaqueDeviceConfiguration } from './device-request-schema.ts'
import { resourceV1 } from './names.ts'

export interface ResourceClaimSpec extends Infer<typeof resourceClaimSpec> {}
export const resourceClaimSpec = object(`${resourceV1}.ResourceClaimSpec`, 'What a claim asks for.', {
  devices: optional(deviceClaim, 'The devices that are wanted.', { default: {} }),
})

export interface DeviceRequestAllocationResult extends Infer<typeof deviceRequestAllocationResult> {}
export const deviceRequestAllocationResult = object(
  `${resourceV1}.DeviceRequestAllocationResult`,
  'A device that a request has got.',
  {
    request: required(string(), 'The request, with the way in which it is met: `request` or `request/way`.', {
      default: '',
    }),
    driver: required(string(), 'The driver of the device.'),
    pool: required(string(), 'The pool that the device is in.'),
    device: required(string(), 'Name of the device.', { default: '' }),
    adminAccess: pointer(boolean, 'Whether it is only looked after: others may have the device.'),
    tolerations: optional(atomicList(deviceToleration), 'The tolerations of the request.'),
    bindingConditions: optional(
      atomicList(string()),
      'Conditions of the device that must be true before a pod is bound.',
    ),
    bindingFailureConditions: optional(
      atomicList(string()),
      'Conditions of the device that say that it cannot be had.',
    ),
    shareID: pointer(string(), 'Tells shares of a device apart that several claims have.'),
    consumedCapacity: optional(mapOf(quantity), 'How much of the device the claim has, where several may have it.'),
  },
)

export interface DeviceAllocationConfiguration extends Infer<typeof deviceAllocationConfiguration> {}
export const deviceAllocationConfiguration = object(
  `${resourceV1}.DeviceAllocationConfiguration`,
  'Parameters for a driver, with where they come from.',
  {
    source: required(
      literal<'FromClass' | 'FromClaim'>(),
      'FromClass where an administrator has set them, or FromClaim.',
    ),
    requests: optional(atomicList(string()), 'The requests they are for; all of them unless set.'),
    opaque: optional(opaqueDeviceConfiguration, 'The parameters.'),
  },
)

export interface DeviceAllocationResult extends Infer<typeof deviceAllocationResult> {}
export const deviceAllocationResult = object(`${resourceV1}.DeviceAllocationResult`, 'The devices that a claim has.', {
  results: optional(atomicList(deviceRequestAllocationResult), 'The devices.'),
  config: optional(atomicList(deviceAllocationConfiguration), 'Parameters of the claim and its classes.'),
})

export interface AllocationResult extends Infer<typeof allocationResult> {}
export const allocationResult = object(`${resourceV1}.AllocationResult`, 'What a claim has got.', {
  devices: optional(deviceAllocationResult, 'The devices.', { default: {} }),
  nodeSelector: optional(nodeSelector, 'The nodes where the devices can be used; all of them unless set.'),
  allocationTimestamp: optional(time, 'When the claim got them.'),
})

export interface ResourceClaimConsumerReference extends Infer<typeof resourceClaimConsumerReference> {}
export const resourceClaimConsumerReference = object(
  `${resourceV1}.ResourceClaimConsumerReference`,
  'Whoever may use a claim.',
  {
    apiGroup: optional(string(), 'The group of the resource; empty is the core group.'),
    resource: required(string(), 'The resource, such as pods.'),
    name: required(string(), 'Name of the object.'),
    uid: required(string(), 'UID of the object.'),
  },
)

export interface NetworkDeviceData extends Infer<typeof networkDeviceData> {}
export const networkDeviceData = object(`${resourceV1}.NetworkDeviceData`, 'What a driver says of a network device.', {
  interfaceName: optional(string(), 'Name of the interface.'),
  ips: optional(atomicList(string()), 'Its addresses, with the lengths of their prefixes.'),
  hardwareAddress: optional(string(), 'Its hardware address.'),
})

export interface AllocatedDeviceStatus extends Infer<typeof allocatedDeviceStatus> {}
export const allocatedDeviceStatus = object(
  `${resourceV1}.AllocatedDeviceStatus`,
  'How a device that a claim has is doing, as its driver says.',
  {
    driver: required(string(), 'The driver of the device.'),
    pool: required(string(), 'The pool that the device is in.'),
    device: required(string(), 'Name of the device.', { default: '' }),
    shareID: pointer(string(), 'Which share of the device, where several claims have it.'),
    conditions: optional(
      mapList(condition, ['type'], { patchStrategy: undefined, duplicates: 'allowed' }),
      'What there is to say, by type.',
      { alwaysWritten: true },
    ),
    data: optional(
      anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension', 'Any object, kept as it is.'),
      'Whatever else the driver says.',
    ),
    networkData: optional(networkDeviceData, 'What the driver says of a network device.'),
  },
)

export interface ResourceClaimStatus extends Infer<typeof resourceClaimStatus> {}
export const resourceClaimStatus = object(`${resourceV1}.ResourceClaimStatus`, 'What a claim has, and who uses it.', {
  allocation: optional(
    allocationResult,
    'What the claim has got. It does not change: it is taken back, and given anew.',
  ),
  reservedFor: optional(
    mapList(resourceClaimConsumerReference, ['uid'], { duplicates: 'allowed' }),
    'Who may use the claim. While there is somebody it is not taken back.',
  ),
  devices: optional(
    mapList(allocatedDeviceStatus, ['driver', 'device', 'pool', 'shareID'], {
      patchStrategy: undefined,
      duplicates: 'allowed',
    }),
    'How the devices are doing, as their drivers say.',
  ),
})

/** Somebody's request for devices, and hold on them. */
export interface ResourceClaim extends Infer<typeof resourceClaimSchema> {}
export const resourceClaimSchema = kindSchema(
  `${resourceV1}.ResourceClaim`,
  'A request for devices, and a hold on those that meet it. Pods use the devices by way of the claim.',
  {
    spec: required(resourceClaimSpec, 'Which devices are asked for. It cannot be changed.', { default: {} }),
    status: optional(resourceClaimStatus, 'What the claim has, and who uses it.', { default: {} }),
  },
)

export interface ResourceClaimTemplateSpec extends Infer<typeof resourceClaimTemplateSpec> {}
export const resourceClaimTemplateSpec = object(
  `${resourceV1}.ResourceClaimTemplateSpec`,
  'What a claim is made from.',
  {
    metadata: optional(objectMeta, 'Labels and annotations of the claim; nothing else is allowed.', {
      default: {},
      byValue: true,
    }),
    spec: required(resourceClaimSpec, 'What the claim asks for.', { default: {} }),
  },
)

/** What claims of pods are made from: each pod gets its own. */
export interface ResourceClaimTemplate extends Infer<typeof resourceClaimTemplateSchema> {}
export const resourceClaimTemplateSchema = kindSchema(
  `${resourceV1}.ResourceClaimTemplate`,
  'What claims of pods are made from. Each pod that names the template gets a claim of its own, which goes with it.',
  {
    spec: required(resourceClaimTemplateSpec, 'The claim that is made. It cannot be changed.', {
      default: { spec: {} },
    }),
  },
)
