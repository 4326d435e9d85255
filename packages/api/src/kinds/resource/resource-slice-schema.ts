import { kindSchema } from '../../meta.ts'
import {
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
  time,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { nodeSelector } from '../core/common.ts'
import type { DeviceTaintEffect } from './device-request-schema.ts'
import { resourceV1 } from './names.ts'

export interface DeviceAttribute extends Infer<typeof deviceAttribute> {}
export const deviceAttribute = object(`${resourceV1}.DeviceAttribute`, 'A value of one of these types.', {
  int: pointer(exactInt64(), 'A number.'),
  bool: pointer(boolean, 'True or false.'),
  string: pointer(string(), 'A text of at most 64 bytes.'),
  version: pointer(string(), 'A version as semver.org has it.'),
  ints: optional(atomicList(exactInt64()), 'Several numbers. Only with a feature that is off.'),
  bools: optional(atomicList(boolean), 'Several truth values. Only with a feature that is off.'),
  strings: optional(atomicList(string()), 'Several texts. Only with a feature that is off.'),
  versions: optional(atomicList(string()), 'Several versions. Only with a feature that is off.'),
})

export interface CapacityRequestPolicyRange extends Infer<typeof capacityRequestPolicyRange> {}
export const capacityRequestPolicyRange = object(
  `${resourceV1}.CapacityRequestPolicyRange`,
  'Amounts between two others.',
  {
    min: required(quantity, 'The least that is given. Less is rounded up.', { absenceIsToldByRules: true }),
    max: optional(quantity, 'The most that is given.'),
    step: optional(quantity, 'Amounts are the least one and whole steps more. Others are rounded up.'),
  },
)

export interface CapacityRequestPolicy extends Infer<typeof capacityRequestPolicy> {}
export const capacityRequestPolicy = object(
  `${resourceV1}.CapacityRequestPolicy`,
  'How much of a capacity a claim may have.',
  {
    default: optional(quantity, 'What a claim has that does not say how much.', { alwaysWritten: true }),
    validValues: optional(
      atomicList(quantity),
      'The amounts that are given, in ascending order. Others are rounded up.',
    ),
    validRange: optional(capacityRequestPolicyRange, 'The amounts that are given, as a range.'),
  },
)

export interface DeviceCapacity extends Infer<typeof deviceCapacity> {}
export const deviceCapacity = object(`${resourceV1}.DeviceCapacity`, 'How much of something a device has.', {
  value: required(quantity, 'How much there is.', { default: '0' }),
  requestPolicy: optional(capacityRequestPolicy, 'How much a claim may have, where several may have the device.'),
})

export interface Counter extends Infer<typeof counter> {}
export const counter = object(`${resourceV1}.Counter`, 'How much there is of something, or how much is used.', {
  value: required(quantity, 'The amount.', { default: '0' }),
})

export interface CounterSet extends Infer<typeof counterSet> {}
export const counterSet = object(
  `${resourceV1}.CounterSet`,
  'What several devices of a pool draw from, such as the parts of one piece of hardware.',
  {
    name: required(string(), 'Name of the set.'),
    counters: required(mapOf(counter), 'How much there is, by name.', { absenceIsToldByRules: true }),
  },
)

export interface DeviceCounterConsumption extends Infer<typeof deviceCounterConsumption> {}
export const deviceCounterConsumption = object(
  `${resourceV1}.DeviceCounterConsumption`,
  'What a device draws from a set of counters while somebody has it.',
  {
    counterSet: required(string(), 'Name of the set.'),
    counters: required(mapOf(counter), 'How much, by name.', { absenceIsToldByRules: true }),
  },
)

export interface DeviceTaint extends Infer<typeof deviceTaint> {}
export const deviceTaint = object(`${resourceV1}.DeviceTaint`, 'Why claims should not get a device, or lose it.', {
  key: required(string(), 'Name of the taint.', { default: '' }),
  value: optional(string(), 'More about it.'),
  effect: required(
    literal<DeviceTaintEffect>(),
    'NoSchedule keeps claims away that do not tolerate it, NoExecute also ends their pods, None does nothing.',
  ),
  timeAdded: optional(time, 'Since when. The server sets it where it is missing.'),
})

export interface NodeAllocatableResourceMapping extends Infer<typeof nodeAllocatableResourceMapping> {}
export const nodeAllocatableResourceMapping = object(
  `${resourceV1}.NodeAllocatableResourceMapping`,
  'How much of a resource of its node a device takes.',
  {
    capacityKey: pointer(string(), 'The capacity of the device that it is in proportion to.'),
    allocationMultiplier: optional(quantity, 'How much, or how much for each unit of the capacity.'),
  },
)

export interface Device extends Infer<typeof device> {}
export const device = object(`${resourceV1}.Device`, 'Something that a claim may get.', {
  name: required(string(), 'Name of the device, unlike that of any other in its pool.', { default: '' }),
  attributes: optional(mapOf(deviceAttribute), 'What it is like, for selectors to ask about.'),
  capacity: optional(mapOf(deviceCapacity), 'How much of what it has.'),
  consumesCounters: optional(
    atomicList(deviceCounterConsumption),
    'What it draws from the shared counters of its pool while somebody has it.',
  ),
  nodeName: pointer(string(), 'The node where it can be used, where the slice leaves that to its devices.'),
  nodeSelector: optional(nodeSelector, 'The nodes where it can be used, where the slice leaves that to its devices.'),
  allNodes: pointer(boolean, 'That it can be used on every node, where the slice leaves that to its devices.'),
  taints: optional(atomicList(deviceTaint), 'Why claims should not get it, or lose it.'),
  bindsToNode: pointer(boolean, 'Whether it can be used only on the node that it was chosen for.'),
  bindingConditions: optional(
    atomicList(string()),
    'Conditions in the status of the claim that must be true before a pod is bound.',
  ),
  bindingFailureConditions: optional(
    atomicList(string()),
    'Conditions in the status of the claim that say that the device cannot be had.',
  ),
  allowMultipleAllocations: pointer(boolean, 'Whether several claims may have it, each a part of its capacity.'),
  nodeAllocatableResourceMappings: optional(
    mapOf(nodeAllocatableResourceMapping),
    'What of its node it takes. Only with a feature that is off.',
  ),
})

export interface ResourcePool extends Infer<typeof resourcePool> {}
export const resourcePool = object(`${resourceV1}.ResourcePool`, 'The pool of devices that a slice is a part of.', {
  name: required(string(), 'Name of the pool, often that of a node. It cannot be changed.', {
    absenceIsToldByRules: true,
  }),
  generation: required(
    exactInt64(),
    'Raised with every change of the pool. Slices of older generations do not count.',
    {
      default: 0,
    },
  ),
  resourceSliceCount: required(exactInt64(), 'How many slices the pool has in this generation.', { default: 0 }),
})

export interface ResourceSliceSpec extends Infer<typeof resourceSliceSpec> {}
export const resourceSliceSpec = object(`${resourceV1}.ResourceSliceSpec`, 'Devices of a driver.', {
  driver: required(string(), 'The driver of the devices. It cannot be changed.'),
  pool: required(resourcePool, 'The pool that this is a part of.', {
    default: { name: '', generation: 0, resourceSliceCount: 0 },
  }),
  nodeName: pointer(string(), 'The node where the devices are. It cannot be changed.'),
  nodeSelector: optional(nodeSelector, 'The nodes where the devices can be used.'),
  allNodes: pointer(boolean, 'That the devices can be used on every node.'),
  devices: optional(atomicList(device), 'The devices.'),
  perDeviceNodeSelection: pointer(boolean, 'That each device says where it can be used.'),
  sharedCounters: optional(atomicList(counterSet), 'What devices of the pool draw from, in a slice without devices.'),
})

/** Devices that a driver offers, or a part of them. */
export interface ResourceSlice extends Infer<typeof resourceSliceSchema> {}
export const resourceSliceSchema = kindSchema(
  `${resourceV1}.ResourceSlice`,
  'Devices that a driver offers on a node, or for several: a pool of them, or a part of a pool.',
  {
    spec: required(resourceSliceSpec, 'The devices.', {
      default: { driver: '', pool: { name: '', generation: 0, resourceSliceCount: 0 } },
    }),
  },
)
