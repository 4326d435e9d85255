import { FieldPath } from '../../../field-path.ts'
import { withFields } from '../../../schema/with-fields.ts'
import { formatSelector } from '../../../selectors.ts'
import { ageColumn, column, nameColumn, wideColumn } from '../../columns.ts'
import { withoutDisabledTemplateFields } from '../../core/pod/disabled-fields.ts'
import { emptyTemplate } from '../../core/pod/pod-template.ts'
import { containerColumns } from '../../core/pod/pod-template-columns.ts'
import { podTemplateDefaults } from '../../core/pod/pod-template-defaults.ts'
import { nameWarnings, podTemplateWarnings } from '../../core/pod/pod-warnings.ts'
import { kind } from '../../kind.ts'
import { selectorScale } from '../selector-scale.ts'
import { type ReplicaSet, replicaSetSchema, replicaSetSpec } from './replica-set-schema.ts'
import { validateReplicaSet, validateReplicaSetStatus, validateReplicaSetUpdate } from './replica-set-validation.ts'

const templatePath = FieldPath.of('spec', 'template')

function withDefaults(replicaSet: ReplicaSet): ReplicaSet {
  const { template = emptyTemplate } = replicaSet.spec
  const spec = withFields(replicaSetSpec, replicaSet.spec, { template: podTemplateDefaults(template) })
  return withFields(replicaSetSchema, replicaSet, { spec })
}

/** `apps/v1` replicasets. */
export const replicaSets = kind<ReplicaSet>(replicaSetSchema, {
  plural: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  scale: selectorScale<ReplicaSet>(),
  columns: [
    nameColumn,
    column('Desired', ({ spec }) => spec.replicas ?? 1, { field: 'spec.replicas' }),
    column('Current', ({ status }) => status?.replicas ?? 0, { field: 'status.replicas' }),
    column('Ready', ({ status }) => status?.readyReplicas ?? 0, { field: 'status.readyReplicas' }),
    ageColumn,
    ...containerColumns<ReplicaSet>(({ spec }) => spec.template),
    wideColumn('Selector', ({ spec }) => formatSelector(spec.selector), { field: 'spec.selector' }),
  ],
  defaults: withDefaults,
  countsGenerations: true,
  prepareForCreate: (replicaSet) => ({ ...withoutDisabledTemplateFields(replicaSet), status: { replicas: 0 } }),
  prepareForUpdate: withoutDisabledTemplateFields,
  validate: validateReplicaSet,
  validateUpdate: validateReplicaSetUpdate,
  validateStatusUpdate: validateReplicaSetStatus,
  warnings: (replicaSet, old) => [
    ...nameWarnings(replicaSet, old, 'Pod names and hostnames'),
    ...podTemplateWarnings(replicaSet.spec.template ?? emptyTemplate, templatePath, replicaSet, old),
  ],
})
