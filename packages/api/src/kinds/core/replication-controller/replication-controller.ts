import type { Column, ResourceDefinition, ScaleMapping, Strategy } from '../../../resource.ts'
import { formatLabels, selectorFromMap } from '../../../selectors.ts'
import { ageColumn, joined, nameColumn } from '../../columns.ts'
import { checkFinalizers } from '../../validation.ts'
import { allVerbs } from '../../verbs.ts'
import { podSpecDefaults } from '../pod/pod-defaults.ts'
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
  const templateSpec = podSpecDefaults(template.spec)
  const takesSelector = labels !== undefined && isEmpty(controller.spec.selector)
  const takesLabels = labels !== undefined && isEmpty(controller.metadata.labels)
  if (templateSpec === template.spec && !takesSelector && !takesLabels) return controller
  return {
    ...controller,
    metadata: takesLabels ? { ...controller.metadata, labels } : controller.metadata,
    spec: {
      ...controller.spec,
      ...(takesSelector ? { selector: labels } : {}),
      template: templateSpec === template.spec ? template : { ...template, spec: templateSpec },
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

const strategy: Strategy<ReplicationController> = {
  countsGenerations: true,
  applyDefaults: replicationControllerDefaults,
  prepareForCreate: (controller) => ({ ...controller, status: { replicas: 0 } }),
  validate: (controller) => [...checkFinalizers(controller.metadata), ...validateReplicationController(controller)],
  validateStatusUpdate: (controller) => [
    ...checkFinalizers(controller.metadata),
    ...validateReplicationControllerStatus(controller),
  ],
}

const columns: readonly Column<ReplicationController>[] = [
  nameColumn,
  {
    name: 'Desired',
    type: 'integer',
    description: 'How many pods there are to be.',
    priority: 0,
    cell: ({ spec }) => spec.replicas ?? 1,
  },
  {
    name: 'Current',
    type: 'integer',
    description: 'How many pods there are.',
    priority: 0,
    cell: ({ status }) => status?.replicas ?? 0,
  },
  {
    name: 'Ready',
    type: 'integer',
    description: 'How many of the pods are ready.',
    priority: 0,
    cell: ({ status }) => status?.readyReplicas ?? 0,
  },
  ageColumn,
  {
    name: 'Containers',
    type: 'string',
    description: 'Names of the containers in the template.',
    priority: 1,
    cell: ({ spec }) => joined((spec.template?.spec.containers ?? []).map((container) => container.name)),
  },
  {
    name: 'Images',
    type: 'string',
    description: 'Images of the containers in the template.',
    priority: 1,
    cell: ({ spec }) => joined((spec.template?.spec.containers ?? []).map((container) => container.image ?? '')),
  },
  {
    name: 'Selector',
    type: 'string',
    description: 'Labels of the pods that count.',
    priority: 1,
    cell: ({ spec }) => formatLabels(spec.selector),
  },
]

/** `v1` replicationcontrollers. */
export const replicationControllers: ResourceDefinition<ReplicationController> = {
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  listKind: 'ReplicationControllerList',
  plural: 'replicationcontrollers',
  singular: 'replicationcontroller',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  verbs: allVerbs,
  schema: replicationControllerSchema,
  hasStatus: true,
  scale,
  subresources: {},
  nameFormat: 'dns1123-subdomain',
  columns,
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  strategy,
}
