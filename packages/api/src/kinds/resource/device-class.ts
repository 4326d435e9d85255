import { kindSchema } from '../../meta.ts'
import { atomicList, object, optional, pointer, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { kind } from '../kind.ts'
import { deviceChecks } from './device-checks.ts'
import { deviceSelector, opaqueDeviceConfiguration } from './device-request-schema.ts'
import { resourceV1 } from './names.ts'

export interface DeviceClassConfiguration extends Infer<typeof deviceClassConfiguration> {}
export const deviceClassConfiguration = object(
  `${resourceV1}.DeviceClassConfiguration`,
  'Parameters that every claim of a class brings to its driver.',
  { opaque: optional(opaqueDeviceConfiguration, 'The parameters.') },
)

export interface DeviceClassSpec extends Infer<typeof deviceClassSpec> {}
export const deviceClassSpec = object(`${resourceV1}.DeviceClassSpec`, 'Which devices are of a class.', {
  selectors: optional(atomicList(deviceSelector), 'Conditions that a device of the class meets, all of them.'),
  config: optional(atomicList(deviceClassConfiguration), 'Parameters for the drivers of its devices.'),
  extendedResourceName: pointer(
    string(),
    'A resource such as vendor.example/gpu: containers that ask for it get devices of the class, without a claim of their own.',
  ),
})

/** Devices under a name that claims refer to. */
export interface DeviceClass extends Infer<typeof deviceClassSchema> {}
export const deviceClassSchema = kindSchema(
  `${resourceV1}.DeviceClass`,
  'Devices of one kind, under a name that claims refer to.',
  {
    spec: required(deviceClassSpec, 'Which devices are of the class. It may be changed: claims keep what they have.', {
      default: {},
    }),
  },
)

/** `resource.k8s.io/v1` deviceclasses. */
export const deviceClasses = kind<DeviceClass>(deviceClassSchema, {
  plural: 'deviceclasses',
  namespaced: false,
  countsGenerations: true,
  rules: { returnsDeletedObject: true },
  load: deviceChecks.load,
  validateCreate: (each) => deviceChecks.get().checkDeviceClass(each),
  validateUpdate: (each, old) => deviceChecks.get().checkDeviceClass(each, old),
})
