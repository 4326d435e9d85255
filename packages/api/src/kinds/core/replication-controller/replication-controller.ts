import { FieldPath } from '../../../field-path.ts'
import type { ScaleMapping } from '../../../resource.ts'
import { formatLabels, selectorFromMap } from '../../../selectors.ts'
import { ageColumn, column, nameColumn, wideColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { withoutDisabledTemplateFields } from '../pod/disabled-fields.ts'
import { containerColumns } from '../pod/pod-template-columns.ts'
import { podTemplateDefaults } from '../pod/pod-template-defaults.ts'
import { nameWarnings, podTemplateWarnings } from '../pod/pod-warnings.ts'
import { type ReplicationController, replicationControllerSchema } from './replication-controller-schema.ts'
import {
  validateReplicationController,
  validateReplicationControllerStatus,
} from './replication-controller-validation.ts'

/**
 * What a replication controller says of itself by its template's labels: they are its selector and its own labels where
 * it gives none (core/v1 SetDefaults_ReplicationController). The template's pod spec gets its defaults too.
 */
export function replicationControllerDefaults(controller: ReplicationController): ReplicationController {
  const { template } = controller.spec
  if (template === undefined) return controller
  const labels = template.metadata?.labels
  const complete = podTemplateDefaults(template)
  const takesSelector = labels !== undefined && isEmpty(controller.spec.selector)
  const takesLabels = labels !== undefined && isEmpty(controller.metadata.labels)
  if (complete === template && !takesSelector && !takesLabels) return controller
  return {
    ...controller,
    metadata: takesLabels ? { ...controller.metadata, labels } : controller.metadata,
    spec: {
      ...controller.spec,
      ...(takesSelector ? { selector: labels } : {}),
      template: complete,
    },
  }
}

const isEmpty = (map: Readonly<Record<string, string>> | undefined): boolean => Object.keys(map ?? {}).length === 0

const scale: ScaleMapping<ReplicationController> = {
  replicas: ({ spec }) => spec.replicas ?? 1,
  statusReplicas: ({ status }) => status?.replicas ?? 0,
  selector: ({ spec }) => selectorFromMap(spec.selector).toString(),
  withReplicas: (controller, replicas) => ({ ...controller, spec: { ...controller.spec, replicas } }),
}

/** `v1` replicationcontrollers. */
export const replicationControllers = kind<ReplicationController>(replicationControllerSchema, {
  plural: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  scale,
  columns: [
    nameColumn,
    column('Desired', ({ spec }) => spec.replicas ?? 1, { field: 'spec.replicas' }),
    column('Current', ({ status }) => status?.replicas ?? 0, { field: 'status.replicas' }),
    column('Ready', ({ status }) => status?.readyReplicas ?? 0, { field: 'status.readyReplicas' }),
    ageColumn,
    ...containerColumns<ReplicationController>(({ spec }) => spec.template),
    wideColumn('Selector', ({ spec }) => formatLabels(spec.selector), { field: 'spec.selector' }),
  ],
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  // Orphaning was the default before there was a garbage collector, and the v1 API keeps to it.
  rules: { dependents: 'orphaned' },
  defaults: replicationControllerDefaults,
  countsGenerations: true,
  prepareForCreate: (controller) => ({ ...withoutDisabledTemplateFields(controller), status: { replicas: 0 } }),
  prepareForUpdate: withoutDisabledTemplateFields,
  validate: validateReplicationController,
  validateStatusUpdate: validateReplicationControllerStatus,
  warnings: (controller, old) => [
    ...nameWarnings(controller, old, 'Pod names and hostnames'),
    ...(controller.spec.template === undefined
      ? []
      : podTemplateWarnings(controller.spec.template, FieldPath.of('spec', 'template'), controller, old)),
  ],
})
