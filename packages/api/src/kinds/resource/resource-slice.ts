import { formatTime } from '../../time.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { deviceChecks } from './device-checks.ts'
import type { DeviceToleration } from './device-request-schema.ts'
import {
  type Device,
  type DeviceAttribute,
  type DeviceTaint,
  type ResourceSlice,
  resourceSliceSchema,
} from './resource-slice-schema.ts'

/** Whether a claim may have a device in spite of a taint (resource/v1 DeviceToleration.ToleratesTaint). */
export function toleratesDeviceTaint(toleration: DeviceToleration, taint: DeviceTaint): boolean {
  const { key = '', operator = 'Equal', value = '', effect } = toleration
  if (effect !== undefined && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  return operator === 'Exists' || value === (taint.value ?? '')
}

/** The generation of a pool by its slices: those of others do not count. */
export const newestGeneration = (slices: readonly ResourceSlice[]): number | bigint =>
  slices.reduce<number | bigint>(
    (newest, { spec: { pool } }) => (pool.generation > newest ? pool.generation : newest),
    0,
  )

/** What is stored: without what only features that are off bring, and with the time of taints that say none. */
function prepared(slice: ResourceSlice, old: ResourceSlice | undefined, nowMs: number): ResourceSlice {
  const { devices } = slice.spec
  if (devices === undefined) return slice
  const before = new Map((old?.spec.devices ?? []).map((each) => [each.name, each]))
  const next = devices.map((each) =>
    withTimes(withoutDisabledFields(each, before.get(each.name)), before.get(each.name), nowMs),
  )
  if (next.every((each, index) => each === devices[index])) return slice
  return { ...slice, spec: { ...slice.spec, devices: next } }
}

/** A taint that was there before keeps its time. */
function withTimes(device: Device, old: Device | undefined, nowMs: number): Device {
  const { taints = [] } = device
  if (taints.every(({ timeAdded }) => timeAdded !== undefined)) return device
  const next = taints.map((taint) => {
    if (taint.timeAdded !== undefined) return taint
    const { key, value = '', effect } = taint
    const before = old?.taints?.find(
      (each) => each.key === key && (each.value ?? '') === value && each.effect === effect,
    )
    return { ...taint, timeAdded: before?.timeAdded ?? formatTime(nowMs) }
  })
  return { ...device, taints: next }
}

/** DRANodeAllocatableResources and DRAListTypeAttributes are off unless asked for. */
function withoutDisabledFields(device: Device, old: Device | undefined): Device {
  const { nodeAllocatableResourceMappings: mappings, ...rest } = device
  const kept = mappings === undefined || old?.nodeAllocatableResourceMappings !== undefined ? device : rest
  const attributes = Object.entries(kept.attributes ?? {})
  const next = attributes.map(([name, each]): readonly [string, DeviceAttribute] => [name, withoutLists(each)])
  if (next.every(([, each], index) => each === attributes[index]?.[1])) return kept
  return { ...kept, attributes: Object.fromEntries(next) }
}

function withoutLists(attribute: DeviceAttribute): DeviceAttribute {
  const { ints, bools, strings, versions, ...rest } = attribute
  return (ints ?? bools ?? strings ?? versions) === undefined ? attribute : rest
}

/** `resource.k8s.io/v1` resourceslices. */
export const resourceSlices = kind<ResourceSlice>(resourceSliceSchema, {
  plural: 'resourceslices',
  namespaced: false,
  selectableFields: {
    'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
    'spec.driver': ({ spec }) => spec.driver,
  },
  columns: [
    nameColumn,
    column('Node', ({ spec }) => spec.nodeName ?? '', { field: 'spec.nodeName' }),
    column('Driver', ({ spec }) => spec.driver, { field: 'spec.driver' }),
    column('Pool', ({ spec }) => spec.pool.name, {
      type: 'string',
      description: 'Name of the pool that the devices are in.',
    }),
    ageColumn,
  ],
  countsGenerations: true,
  rules: { returnsDeletedObject: true },
  prepareForCreate: (slice, nowMs) => prepared(slice, undefined, nowMs),
  prepareForUpdate: prepared,
  load: deviceChecks.load,
  validateCreate: (slice) => deviceChecks.get().checkSlice(slice),
  validateUpdate: (slice, old) => deviceChecks.get().checkSlice(slice, old),
  warnings: ({ spec: { driver = '' } }) =>
    driver === driver.toLowerCase()
      ? []
      : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`],
})
