import { deepFreeze } from '../../../freeze.ts'
import { withFields } from '../../../schema/with-fields.ts'
import { podSpecDefaults } from './pod-defaults.ts'
import type { PodSpec } from './pod-spec.ts'
import { type PodTemplateSpec, podTemplateSpec } from './pod-template.ts'

/**
 * What the defaults make of specs that nobody can change any more: every update of a Deployment brings the very spec that is
 * stored, and every Job of a schedule that of its template.
 */
const completed = new WeakMap<PodSpec, PodSpec>()

/** A template whose pod spec has its defaults; the template itself where nothing is missing. */
export function podTemplateDefaults(template: PodTemplateSpec): PodTemplateSpec {
  const { spec } = template
  const known = completed.get(spec)
  const filled = known ?? podSpecDefaults(spec)
  if (known === undefined && Object.isFrozen(spec)) completed.set(spec, deepFreeze(filled))
  return withFields(podTemplateSpec, template, { spec: filled })
}
