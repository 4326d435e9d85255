import { withFields } from '../../../schema/with-fields.ts'
import { podSpecDefaults } from './pod-defaults.ts'
import { type PodTemplateSpec, podTemplateSpec } from './pod-template.ts'

/** A template whose pod spec has its defaults; the template itself where nothing is missing. */
export function podTemplateDefaults(template: PodTemplateSpec): PodTemplateSpec {
  return withFields(podTemplateSpec, template, { spec: podSpecDefaults(template.spec) })
}
