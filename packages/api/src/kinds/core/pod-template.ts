import type { FieldError } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { optional } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { withFields } from '../../schema/with-fields.ts'
import { formatLabels } from '../../selectors.ts'
import { column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { coreV1 } from '../meta/names.ts'
import { enabledTemplate } from './pod/disabled-fields.ts'
import { emptyTemplate, podTemplateSpec } from './pod/pod-template.ts'
import { podTemplateDefaults } from './pod/pod-template-defaults.ts'
import { validatePodTemplateSpec } from './pod/pod-validation.ts'
import { podTemplateWarnings } from './pod/pod-warnings.ts'

/** A template of pods that stands by itself. Nothing of Kubernetes makes pods from it. */
export interface PodTemplate extends Infer<typeof podTemplateSchema> {}
export const podTemplateSchema = kindSchema(
  `${coreV1}.PodTemplate`,
  'A template of pods that stands by itself, for whoever makes pods from it.',
  {
    template: optional(podTemplateSpec, 'What pods made from it look like.', { byValue: true, default: emptyTemplate }),
  },
)

const templatePath = FieldPath.of('template')
const templateOf = ({ template = emptyTemplate }: PodTemplate) => template

function validate(podTemplate: PodTemplate): readonly FieldError[] {
  return validatePodTemplateSpec(templateOf(podTemplate), templatePath)
}

function withEnabledTemplate(podTemplate: PodTemplate, old?: PodTemplate): PodTemplate {
  const template = enabledTemplate(podTemplate.template, old?.template)
  return template === podTemplate.template ? podTemplate : { ...podTemplate, template }
}

/** `v1` podtemplates. */
export const podTemplates = kind<PodTemplate>(podTemplateSchema, {
  plural: 'podtemplates',
  columns: [
    nameColumn,
    column(
      'Containers',
      (each) =>
        containersOf(each)
          .map(({ name }) => name)
          .join(','),
      'Names of the containers.',
    ),
    column(
      'Images',
      (each) =>
        containersOf(each)
          .map(({ image = '' }) => image)
          .join(','),
      'Images they run.',
    ),
    column('Pod Labels', (each) => formatLabels(templateOf(each).metadata?.labels), 'Labels of the pods.'),
  ],
  rules: { returnsDeletedObject: true },
  countsGenerations: true,
  defaults: (podTemplate) =>
    withFields(podTemplateSchema, podTemplate, { template: podTemplateDefaults(templateOf(podTemplate)) }),
  prepareForCreate: (podTemplate) => withEnabledTemplate(podTemplate),
  prepareForUpdate: withEnabledTemplate,
  validate,
  warnings: (podTemplate, old) => podTemplateWarnings(templateOf(podTemplate), templatePath, podTemplate, old),
})

const containersOf = (podTemplate: PodTemplate) => templateOf(podTemplate).spec.containers ?? []
