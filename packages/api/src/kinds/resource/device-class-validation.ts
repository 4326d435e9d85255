import { deepEqual } from '../../equality.ts'
import { type FieldError, invalidField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { isExtended } from '../core/pod/validation/resources.ts'
import type { DeviceClass } from './device-class.ts'
import { checkDeviceConfiguration, checkSelectors } from './device-request-validation.ts'
import { deviceConfigMax } from './limits.ts'
import { checkItems } from './lists.ts'

const specPath = FieldPath.of('spec')

/** What is wrong with a class. What has not changed since it was stored is not looked at again: rules may have become stricter since. */
export function checkDeviceClass({ spec }: DeviceClass, old?: DeviceClass): readonly FieldError[] {
  const { selectors = [], config = [], extendedResourceName: resource } = spec
  const keepsSelectors = old !== undefined && deepEqual(selectors, old.spec.selectors ?? [])
  const keepsConfig = old !== undefined && deepEqual(config, old.spec.config ?? [])
  return [
    ...checkSelectors(selectors, specPath.field('selectors'), keepsSelectors),
    ...checkItems(config, deviceConfigMax, specPath.field('config'), (each, path) =>
      checkDeviceConfiguration(each, path, keepsConfig),
    ),
    ...(resource === undefined || isExtended(resource)
      ? []
      : [invalidField(specPath.field('extendedResourceName'), resource, 'must be a valid extended resource name')]),
  ]
}
