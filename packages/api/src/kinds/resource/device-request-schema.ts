/** What a claim asks for: requests for devices, constraints over them, and parameters for drivers. */
import {
  anyObject,
  atomicList,
  boolean,
  exactInt64,
  literal,
  mapOf,
  object,
  optional,
  pointer,
  quantity,
  required,
  string,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { resourceV1 } from './names.ts'

/** `NoExecute` also ends pods that already use the device. `None` only tells people. */
export type DeviceTaintEffect = 'None' | 'NoSchedule' | 'NoExecute'

export interface CelDeviceSelector extends Infer<typeof celDeviceSelector> {}
export const celDeviceSelector = object(`${resourceV1}.CELDeviceSelector`, 'Which devices, as an expression in CEL.', {
  expression: required(
    string(),
    'True for devices that are wanted. It asks about `device.driver`, `device.attributes["domain"].name`, `device.capacity["domain"].name` and `device.allowMultipleAllocations`.',
    { default: '' },
  ),
})

export interface DeviceSelector extends Infer<typeof deviceSelector> {}
export const deviceSelector = object(`${resourceV1}.DeviceSelector`, 'A condition that a device must meet.', {
  cel: optional(celDeviceSelector, 'The condition as an expression.'),
})

export interface DeviceToleration extends Infer<typeof deviceToleration> {}
export const deviceToleration = object(
  `${resourceV1}.DeviceToleration`,
  'Taints of devices that do not keep a claim away.',
  {
    key: optional(string(), 'Key of the taints; every key where it is empty, which needs the operator Exists.'),
    operator: optional(literal<'Exists' | 'Equal'>(), 'Exists for any value, or Equal.', { default: 'Equal' }),
    value: optional(string(), 'The value that the taint must have for Equal.'),
    effect: optional(literal<DeviceTaintEffect>(), 'The effect that is tolerated; each of them where it is empty.'),
    tolerationSeconds: pointer(exactInt64(), 'How long NoExecute is tolerated; forever unless set.'),
  },
)

export interface CapacityRequirements extends Infer<typeof capacityRequirements> {}
export const capacityRequirements = object(
  `${resourceV1}.CapacityRequirements`,
  'How much of a device is wanted, by capacity.',
  { requests: optional(mapOf(quantity), 'Amounts by the names of capacities. The device must have each of them.') },
)

const allocationMode = literal<'ExactCount' | 'All'>()

const asked = {
  deviceClassName: required(string(), 'Name of the DeviceClass.'),
  selectors: optional(atomicList(deviceSelector), 'Conditions beside those of the class, all of which must be met.'),
  allocationMode: optional(
    allocationMode,
    'ExactCount for as many as `count` says, or All for every device that matches. ExactCount unless set.',
  ),
  count: optional(exactInt64(), 'How many devices, for ExactCount. One unless set.'),
}

const shares = {
  tolerations: optional(atomicList(deviceToleration), 'Taints that do not matter.'),
  capacity: optional(capacityRequirements, 'How much of each device is wanted. All of it unless set.'),
}

export interface ExactDeviceRequest extends Infer<typeof exactDeviceRequest> {}
export const exactDeviceRequest = object(
  `${resourceV1}.ExactDeviceRequest`,
  'A request for one or more devices of a class.',
  {
    ...asked,
    adminAccess: pointer(
      boolean,
      'Whether devices are wanted for looking after them, whoever uses them. Only in namespaces that allow it by a label.',
    ),
    ...shares,
  },
)

export interface DeviceSubRequest extends Infer<typeof deviceSubRequest> {}
export const deviceSubRequest = object(`${resourceV1}.DeviceSubRequest`, 'One of several ways to meet a request.', {
  name: required(string(), 'Name of this way. Constraints call it `<request>/<name>`.', { default: '' }),
  ...asked,
  ...shares,
})

export interface DeviceRequest extends Infer<typeof deviceRequest> {}
export const deviceRequest = object(
  `${resourceV1}.DeviceRequest`,
  'A part of a claim: devices of one kind, or the first of several kinds that there are.',
  {
    name: required(string(), 'Name of the request, which containers and constraints refer to.', { default: '' }),
    exactly: optional(exactDeviceRequest, 'What is wanted, where there is no choice.'),
    firstAvailable: optional(atomicList(deviceSubRequest), 'Ways to meet the request. The first that works is taken.'),
  },
)

export interface DeviceConstraint extends Infer<typeof deviceConstraint> {}
export const deviceConstraint = object(
  `${resourceV1}.DeviceConstraint`,
  'What the devices of several requests must have in common, or must not.',
  {
    requests: optional(atomicList(string()), 'The requests it is about; all of them unless set.'),
    matchAttribute: pointer(string(), 'An attribute that has the same value on all of the devices, with its domain.'),
    distinctAttribute: pointer(
      string(),
      'An attribute that has another value on each of the devices, with its domain.',
    ),
  },
)

export interface OpaqueDeviceConfiguration extends Infer<typeof opaqueDeviceConfiguration> {}
export const opaqueDeviceConfiguration = object(
  `${resourceV1}.OpaqueDeviceConfiguration`,
  'Parameters in the form that a driver wants.',
  {
    driver: required(string(), 'The driver that they are for.'),
    parameters: required(
      anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension', 'Any object, kept as it is.'),
      'The parameters, which only the driver understands.',
      { absenceIsToldByRules: true },
    ),
  },
)

export interface DeviceClaimConfiguration extends Infer<typeof deviceClaimConfiguration> {}
export const deviceClaimConfiguration = object(
  `${resourceV1}.DeviceClaimConfiguration`,
  'Parameters for the driver of a claim.',
  {
    requests: optional(atomicList(string()), 'The requests they are for; all of them unless set.'),
    opaque: optional(opaqueDeviceConfiguration, 'The parameters.'),
  },
)

export interface DeviceClaim extends Infer<typeof deviceClaim> {}
export const deviceClaim = object(`${resourceV1}.DeviceClaim`, 'Which devices are wanted.', {
  requests: optional(atomicList(deviceRequest), 'The devices, all of which are needed.', { alwaysWritten: true }),
  constraints: optional(atomicList(deviceConstraint), 'What the devices must have in common, or must not.'),
  config: optional(atomicList(deviceClaimConfiguration), 'Parameters for drivers. They do not matter for the choice.'),
})
