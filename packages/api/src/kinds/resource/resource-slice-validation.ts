/** What is wrong with a slice, in the words of upstream's `pkg/apis/resource/validation`. */

import { deepEqual } from '../../equality.ts'
import { type FieldError, invalidField, requiredField, tooLongField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { structValue } from '../../internal-structs/struct-value.ts'
import { dns1123LabelMax } from '../../string-formats.ts'
import { utf8Bytes } from '../core/data-size.ts'
import { checkTextOrEmpty } from '../core/pod/validation/checks.ts'
import { validateNodeSelector } from '../core/pod/validation/scheduling.ts'
import { checkUnchanged } from '../validation.ts'
import { checkCapacity } from './capacity-validation.ts'
import { checkDriverName, checkLabel, checkPoolName, checkQualifiedName } from './device-names.ts'
import {
  advancedDevicesPerSliceMax,
  attributesAndCapacitiesMax,
  attributeValueBytesMax,
  counterConsumptionsMax,
  counterSetsMax,
  countersMax,
  devicesPerSliceMax,
  deviceTaintsMax,
  domainBytesMax,
  identifierBytesMax,
} from './limits.ts'
import { checkDistinctItems, checkEntries, checkItems } from './lists.ts'
import { checkBindingConditions } from './resource-claim-validation.ts'
import type {
  Counter,
  Device,
  DeviceAttribute,
  DeviceTaint,
  ResourcePool,
  ResourceSlice,
  ResourceSliceSpec,
} from './resource-slice-schema.ts'

const specPath = FieldPath.of('spec')
const noNumberMax = Number.POSITIVE_INFINITY

/** What is wrong with a slice. Of a stored one, parts of devices that stay as they are are not looked at again. */
export function checkSlice({ spec }: ResourceSlice, old?: ResourceSlice): readonly FieldError[] {
  const { devices = [], sharedCounters = [] } = spec
  const oldDevices = new Map((old?.spec.devices ?? []).map((each) => [each.name, each]))
  return [
    ...checkDriverName(spec.driver, specPath.field('driver')),
    ...checkPool(spec.pool, specPath.field('pool')),
    ...(old === undefined ? [] : checkIdentity(spec, old.spec)),
    ...checkPlace(spec, specPath, sliceWords),
    ...(spec.sharedCounters !== undefined && spec.devices !== undefined
      ? [invalidField(specPath, '', 'only one of `sharedCounters` or `devices` is allowed')]
      : []),
    ...checkDistinctItems(devices, devicesMax(devices), specPath.field('devices'), nameOf, (device, path) =>
      checkDevice(device, oldDevices.get(device.name), spec.perDeviceNodeSelection === true, path),
    ),
    ...checkDistinctItems(sharedCounters, counterSetsMax, specPath.field('sharedCounters'), nameOf, (set, path) => [
      ...(set.name ? checkLabel(set.name, path.field('name')) : []),
      ...checkCounters(set.counters, path),
    ]),
  ]
}

const nameOf = ({ name }: { readonly name: string }): string => name

function devicesMax(devices: readonly Device[]): number {
  const isAdvanced = devices.some(({ taints, consumesCounters }) => taints?.length || consumesCounters?.length)
  return isAdvanced ? advancedDevicesPerSliceMax : devicesPerSliceMax
}

function checkPool(
  { name, resourceSliceCount: count, generation }: ResourcePool,
  path: FieldPath,
): readonly FieldError[] {
  return [
    ...checkPoolName(name, path.field('name')),
    ...(count > 0 ? [] : [invalidField(path.field('resourceSliceCount'), count, 'must be greater than zero')]),
    ...(generation >= 0
      ? []
      : [invalidField(path.field('generation'), generation, 'must be greater than or equal to zero')]),
  ]
}

function checkIdentity(spec: ResourceSliceSpec, old: ResourceSliceSpec): readonly FieldError[] {
  return [
    ...checkUnchanged(spec.pool.name ?? '', old.pool.name ?? '', specPath.field('pool').field('name')),
    ...checkUnchanged(spec.driver ?? '', old.driver ?? '', specPath.field('driver')),
    ...checkUnchanged(spec.nodeName, old.nodeName, specPath.field('nodeName')),
  ]
}

/** Where something can be used, of which exactly one must be said. */
type Place = Pick<ResourceSliceSpec, 'nodeName' | 'nodeSelector' | 'allNodes' | 'perDeviceNodeSelection'>

interface PlaceWords {
  readonly emptyName: string
  readonly rule: string
  /** What is added to the rule where several are said. */
  readonly severalRule: string
}

const sliceRule = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
const sliceWords: PlaceWords = {
  emptyName: 'must be either unset or set to a non-empty string',
  rule: sliceRule,
  severalRule: `${sliceRule}, but multiple fields are set`,
}
const deviceRule =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
const deviceWords: PlaceWords = { emptyName: 'must not be empty', rule: deviceRule, severalRule: deviceRule }

function checkPlace(place: Place, path: FieldPath, words: PlaceWords): readonly FieldError[] {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = place
  const errors: FieldError[] = []
  const given: string[] = []
  if (nodeName === '') errors.push(invalidField(path.field('nodeName'), nodeName, words.emptyName))
  else if (nodeName !== undefined) {
    given.push('`nodeName`')
    errors.push(...checkTextOrEmpty('dns1123-subdomain', nodeName, path.field('nodeName')))
  }
  if (nodeSelector !== undefined) {
    given.push('`nodeSelector`')
    const at = path.field('nodeSelector')
    errors.push(...validateNodeSelector(nodeSelector, at))
    if (words === sliceWords && nodeSelector.nodeSelectorTerms.length !== 1) {
      const { nodeSelectorTerms: terms } = nodeSelector
      const shown = terms.length === 0 ? null : structValue('core.NodeSelectorTerm', terms)
      errors.push(invalidField(at.field('nodeSelectorTerms'), shown, 'must have exactly one node selector term'))
    }
  }
  for (const [name, value] of Object.entries({ allNodes, perDeviceNodeSelection })) {
    if (value === true) given.push(`\`${name}\``)
    if (value === false) errors.push(invalidField(path.field(name), value, 'must be either unset or set to true'))
  }
  if (given.length === 0) errors.push(requiredField(path, words.rule))
  if (given.length > 1) errors.push(invalidField(path, `{${given.join(', ')}}`, words.severalRule))
  return errors
}

function checkDevice(
  device: Device,
  old: Device | undefined,
  choosesNodes: boolean,
  path: FieldPath,
): readonly FieldError[] {
  const { attributes = {}, capacity = {}, taints = [], consumesCounters = [] } = device
  const count = Object.keys(attributes).length + Object.keys(capacity).length
  const keyBytesMax = domainBytesMax + 1 + identifierBytesMax
  const tooMany = `the total number of attributes and capacities must not exceed ${attributesAndCapacitiesMax}`
  const isShared = device.allowMultipleAllocations === true
  const keepsCapacity = old !== undefined && deepEqual(old.capacity ?? {}, capacity)
  const keepsTaints = old !== undefined && deepEqual(old.taints ?? [], taints)
  return [
    ...checkLabel(device.name, path.field('name')),
    ...(count > attributesAndCapacitiesMax ? [invalidField(path, count, tooMany)] : []),
    ...checkEntries(attributes, noNumberMax, keyBytesMax, path.field('attributes'), checkQualifiedName, checkAttribute),
    ...(keepsCapacity
      ? []
      : checkEntries(capacity, noNumberMax, keyBytesMax, path.field('capacity'), checkQualifiedName, (each, at) =>
          checkCapacity(each, isShared, at),
        )),
    ...(keepsTaints ? [] : checkItems(taints, deviceTaintsMax, path.field('taints'), checkTaint)),
    ...checkDistinctItems(
      consumesCounters,
      counterConsumptionsMax,
      path.field('consumesCounters'),
      (each) => each.counterSet,
      (each, at) => [
        ...(each.counterSet ? checkLabel(each.counterSet, at.field('counterSet')) : []),
        ...checkCounters(each.counters, at),
      ],
    ),
    ...checkDevicePlace(device, choosesNodes, path),
    ...checkBindingConditions(device, path),
  ]
}

function checkDevicePlace(device: Device, choosesNodes: boolean, path: FieldPath): readonly FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device
  if (choosesNodes) return checkPlace({ nodeName, nodeSelector, allNodes }, path, deviceWords)
  if (nodeName === undefined && nodeSelector === undefined && allNodes === undefined) return []
  const why =
    '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  return [invalidField(path, undefined, why)]
}

/** semver.org, 2.0.0. */
const versionPattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/

function checkAttribute(attribute: DeviceAttribute, path: FieldPath): readonly FieldError[] {
  const { int, bool, string, version } = attribute
  const given = [int, bool, string, version].filter((each) => each !== undefined).length
  const one = 'exactly one value must be specified'
  const checkLength = (text: string | undefined, at: FieldPath) =>
    text !== undefined && utf8Bytes(text) > attributeValueBytesMax ? [tooLongField(at, attributeValueBytesMax)] : []
  const versionPath = path.field('version')
  return [
    ...checkLength(string, path.field('string')),
    ...(version === undefined || versionPattern.test(version)
      ? []
      : [invalidField(versionPath, version, 'must be a string compatible with semver.org spec 2.0.0')]),
    ...checkLength(version, versionPath),
    ...(given === 0 ? [invalidField(path, '', one)] : []),
    ...(given > 1 ? [invalidField(path, structValue('resource.DeviceAttribute', attribute), one)] : []),
  ]
}

const taintEffects: readonly string[] = ['NoExecute', 'NoSchedule', 'None']

function checkTaint({ key, value = '', effect }: DeviceTaint, path: FieldPath): readonly FieldError[] {
  return [
    ...checkTextOrEmpty('qualified-name', key, path.field('key')),
    ...(value === '' ? [] : checkTextOrEmpty('label-value', value, path.field('value'))),
    ...(!effect || taintEffects.includes(effect) ? [] : [unsupportedField(path.field('effect'), effect, taintEffects)]),
  ]
}

function checkCounters(
  counters: Readonly<Record<string, Counter>> | undefined,
  path: FieldPath,
): readonly FieldError[] {
  const at = path.field('counters')
  if (counters === undefined || Object.keys(counters).length === 0) return [requiredField(at)]
  return checkEntries(counters, countersMax, dns1123LabelMax, at, checkLabel, () => [])
}
