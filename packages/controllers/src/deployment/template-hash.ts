import type { PodTemplateSpec } from '@coracle/api'
import { nameHash } from '../name-hash.ts'

/** The label that tells the pods of one template of a deployment from those of another. */
export const templateHashLabel = 'pod-template-hash'

/** A hash of a template as names and labels carry it. `collisions` gives another hash to a template whose name was taken. */
export function templateHash(template: PodTemplateSpec, collisions: number | undefined): string {
  return nameHash(template, collisions)
}
