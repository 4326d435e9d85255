import { type ApiError, forbidden, type KubernetesObject } from '@coracle/api'
import type { AdmissionAttributes } from './admission.ts'

/** Upstream's refusal by admission (admission.NewForbidden): it names the object as well as can be. */
export function forbiddenByAdmission(
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
  why: string,
): ApiError {
  return forbidden(attributes.definition, nameOf(attributes, object), why)
}

/** The name of the object that a request is about: before one is generated, what it is generated from. */
function nameOf({ name }: AdmissionAttributes, object: KubernetesObject | undefined): string {
  if (name !== '') return name
  const { name: own = '', generateName = '' } = object?.metadata ?? {}
  return own || generateName || 'Unknown'
}

/** Several problems as one text, as Go's client libraries show them: each once. */
export function aggregated(problems: readonly string[]): string {
  const texts = [...new Set(problems)]
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}
