import {
  type Event,
  goText,
  type JsonObject,
  type PersistentVolume,
  shownAccessModes,
  storageClassOfVolume,
} from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeIdentity, lifecycleText } from './metadata.ts'
import { describeRequirements } from './requirements.ts'
import { describeVolumeSource } from './volume-sources.ts'

/** A PersistentVolume in detail (kubectl's describePersistentVolume). */
export function describePersistentVolume(
  volume: PersistentVolume,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, spec, status } = volume
  const text = new Description()
  describeIdentity(text, metadata)
  text.field(0, 'Finalizers', goText(metadata.finalizers ?? []))
  text.field(0, 'StorageClass', storageClassOfVolume(volume))
  text.field(0, 'Status', lifecycleText(metadata, status?.phase ?? '', nowMs))
  const claim = spec?.claimRef
  text.field(0, 'Claim', claim === undefined ? '' : `${claim.namespace ?? ''}/${claim.name ?? ''}`)
  text.field(0, 'Reclaim Policy', spec?.persistentVolumeReclaimPolicy ?? '')
  text.field(0, 'Access Modes', shownAccessModes(spec?.accessModes))
  if (spec?.volumeMode !== undefined) text.field(0, 'VolumeMode', spec.volumeMode)
  text.field(0, 'Capacity', spec?.capacity?.storage ?? '0')
  describeNodeAffinity(text, volume)
  text.field(0, 'Message', status?.message ?? '')
  text.heading(0, 'Source')
  const isKnown = describeVolumeSource(text, (spec ?? {}) as JsonObject, { persistent: true })
  if (!isKnown) text.line(1, '<unknown>')
  describeEvents(text, events, nowMs)
  return text.toString()
}

function describeNodeAffinity(text: Description, { spec }: PersistentVolume): void {
  const required = spec?.nodeAffinity?.required
  if (required === undefined) {
    text.field(0, 'Node Affinity', '<none>')
    return
  }
  const terms = required.nodeSelectorTerms ?? []
  text.field(0, 'Node Affinity', '').field(1, 'Required Terms', terms.length === 0 ? '<none>' : '')
  for (const [index, { matchExpressions = [] }] of terms.entries()) {
    describeRequirements(text, 2, `Term ${index}`, matchExpressions)
  }
}
