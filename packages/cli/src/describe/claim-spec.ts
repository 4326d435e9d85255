import type { ObjectMeta, PersistentVolumeClaim } from '@coracle/api'
import { shownAccessModes, storageClassOfClaim } from '@coracle/api'
import type { Description } from './description.ts'
import { annotationLines, labelLines } from './metadata.ts'

/** What a claim and a template of one have in common. */
export interface ClaimParts extends Pick<PersistentVolumeClaim, 'spec' | 'status'> {
  readonly metadata: ObjectMeta
}

/** What a claim asks for and has, in the part of a description that a template of claims has as well. */
export function describeClaimSpec(text: Description, level: number, claim: ClaimParts, more?: ClaimLines): void {
  const { metadata, spec, status } = claim
  const isBound = Boolean(spec?.volumeName)
  text.field(level, 'StorageClass', storageClassOfClaim(claim) ?? '')
  if (more !== undefined) text.field(level, 'Status', more.status)
  text.field(level, 'Volume', spec?.volumeName ?? '')
  // In a template kubectl sets keys in once more.
  const inner = '  '.repeat(level)
  text.lines(level, 'Labels', indented(labelLines(metadata.labels), inner))
  text.lines(level, 'Annotations', indented(annotationLines(metadata.annotations), inner))
  if (more !== undefined) text.field(level, 'Finalizers', more.finalizers)
  text.field(level, 'Capacity', isBound ? (status?.capacity?.storage ?? '0') : '')
  text.field(level, 'Access Modes', isBound ? shownAccessModes(status?.accessModes) : '')
  if (spec?.volumeMode !== undefined) text.field(level, 'VolumeMode', spec.volumeMode)
  if (spec?.dataSource === undefined) return
  const { apiGroup, kind, name } = spec.dataSource
  text.heading(level, 'DataSource')
  if (apiGroup !== undefined) text.field(level + 1, 'APIGroup', apiGroup)
  text.field(level + 1, 'Kind', kind).field(level + 1, 'Name', name)
}

const indented = (lines: readonly string[], indent: string): readonly string[] =>
  (lines.length === 0 ? ['<none>'] : lines).map((line) => (line.startsWith(' ') ? line : `${indent}${line}`))

/** What only a claim that is there has. */
export interface ClaimLines {
  readonly status: string
  readonly finalizers: string
}
