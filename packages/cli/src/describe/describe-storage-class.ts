import {
  type Event,
  formatLabels,
  isDefaultStorageClass,
  type StorageClass,
  type VolumeAttributesClass,
} from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeRequirements } from './requirements.ts'

/** A StorageClass in detail (kubectl's describeStorageClass). */
export function describeStorageClass(
  storageClass: StorageClass,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, allowVolumeExpansion, mountOptions = [], allowedTopologies } = storageClass
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '')
  text.field(0, 'IsDefaultClass', isDefaultStorageClass(storageClass) ? 'Yes' : 'No')
  text.field(0, 'Annotations', formatLabels(metadata.annotations)).field(0, 'Provisioner', storageClass.provisioner)
  text.field(0, 'Parameters', formatLabels(storageClass.parameters))
  const expansion = allowVolumeExpansion === undefined ? '<unset>' : allowVolumeExpansion ? 'True' : 'False'
  text.field(0, 'AllowVolumeExpansion', expansion)
  if (mountOptions.length === 0) text.field(0, 'MountOptions', '<none>')
  else text.heading(0, 'MountOptions')
  for (const option of mountOptions) text.line(1, option)
  if (storageClass.reclaimPolicy !== undefined) text.field(0, 'ReclaimPolicy', storageClass.reclaimPolicy)
  if (storageClass.volumeBindingMode !== undefined) text.field(0, 'VolumeBindingMode', storageClass.volumeBindingMode)
  if (allowedTopologies !== undefined) {
    text.field(0, 'AllowedTopologies', allowedTopologies.length === 0 ? '<none>' : '')
    for (const [index, { matchLabelExpressions = [] }] of allowedTopologies.entries()) {
      describeRequirements(text, 1, `Term ${index}`, matchLabelExpressions)
    }
  }
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** A VolumeAttributesClass in detail (kubectl's describeVolumeAttributesClass). */
export function describeVolumeAttributesClass(
  { metadata, driverName, parameters }: VolumeAttributesClass,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Annotations', formatLabels(metadata.annotations))
  text.field(0, 'DriverName', driverName).field(0, 'Parameters', formatLabels(parameters))
  describeEvents(text, events, nowMs)
  return text.toString()
}
