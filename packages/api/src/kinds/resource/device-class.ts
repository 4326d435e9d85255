import { deepEqual } from '../../equality.ts'
import type { FieldError } from '../../field-error.ts'
import { invalidField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { atomicList, object, optional, pointer, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { isExtended } from '../core/pod/validation/resources.ts'
import { kind } from '../kind.ts'
import { deviceSelector, opaqueDeviceConfiguration } from './device-request-schema.ts'
import { deviceRules, loadDeviceRules } from './device-rules.ts'
import { deviceConfigMax } from './limits.ts'
import { checkItems } from './lists.ts'
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

const specPath = FieldPath.of('spec')

/** What has not changed since it was stored is not looked at again: rules may have become stricter since. */
function checkSpec({ spec }: DeviceClass, old?: DeviceClass): readonly FieldError[] {
  const { selectors = [], config = [], extendedResourceName: resource } = spec
  const keepsSelectors = old !== undefined && deepEqual(selectors, old.spec.selectors ?? [])
  const keepsConfig = old !== undefined && deepEqual(config, old.spec.config ?? [])
  return [
    ...deviceRules().checkSelectors(selectors, specPath.field('selectors'), keepsSelectors),
    ...checkItems(config, deviceConfigMax, specPath.field('config'), (each, path) =>
      deviceRules().checkDeviceConfiguration(each, path, keepsConfig),
    ),
    ...(resource === undefined || isExtendedResourceName(resource)
      ? []
      : [invalidField(specPath.field('extendedResourceName'), resource, 'must be a valid extended resource name')]),
  ]
}

/** core/v1/helper IsExtendedResourceName: a quota for it must have a name too. */
function isExtendedResourceName(name: string): boolean {
  return isExtended(name) && checkFormat('qualified-name', `requests.${name}`).length === 0
}

/** `resource.k8s.io/v1` deviceclasses. */
export const deviceClasses = kind<DeviceClass>(deviceClassSchema, {
  plural: 'deviceclasses',
  namespaced: false,
  countsGenerations: true,
  rules: { returnsDeletedObject: true },
  load: loadDeviceRules,
  validateCreate: (each) => checkSpec(each),
  validateUpdate: checkSpec,
})
