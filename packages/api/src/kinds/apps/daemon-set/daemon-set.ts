import { deepEqual } from '../../../equality.ts'
import { FieldPath } from '../../../field-path.ts'
import { withFields } from '../../../schema/with-fields.ts'
import { formatLabels, formatSelector } from '../../../selectors.ts'
import { ageColumn, column, nameColumn, wideColumn } from '../../columns.ts'
import { withoutDisabledTemplateFields } from '../../core/pod/disabled-fields.ts'
import { containerColumns } from '../../core/pod/pod-template-columns.ts'
import { podTemplateDefaults } from '../../core/pod/pod-template-defaults.ts'
import { podTemplateWarnings } from '../../core/pod/pod-warnings.ts'
import { kind } from '../../kind.ts'
import {
  type DaemonSet,
  type DaemonSetStatus,
  type DaemonSetUpdateStrategy,
  daemonSetSchema,
  daemonSetSpec,
} from './daemon-set-schema.ts'
import { validateDaemonSet, validateDaemonSetStatusUpdate, validateDaemonSetUpdate } from './daemon-set-validation.ts'

/**
 * Counts the changes of the template. It was a field of the first version of this kind, and controllers still put it on
 * pods, as the label pod-template-generation.
 */
export const templateGenerationAnnotation = 'deprecated.daemonset.template.generation'

const templatePath = FieldPath.of('spec', 'template')
const noPods: DaemonSetStatus = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
}

/** apps/v1 SetDefaults_DaemonSet. */
function withDefaults(daemonSet: DaemonSet): DaemonSet {
  const { template, updateStrategy = {} } = daemonSet.spec
  const spec = withFields(daemonSetSpec, daemonSet.spec, {
    template: podTemplateDefaults(template),
    updateStrategy: strategyDefaults(updateStrategy),
  })
  return withFields(daemonSetSchema, withTemplateCount(daemonSet), { spec })
}

/** What upstream has as a field until it is written: whoever creates a daemon set owns the count. */
function withTemplateCount(daemonSet: DaemonSet): DaemonSet {
  return daemonSet.metadata.annotations?.[templateGenerationAnnotation] === undefined
    ? withTemplateGeneration(daemonSet, 0)
    : daemonSet
}

function strategyDefaults(strategy: DaemonSetUpdateStrategy): DaemonSetUpdateStrategy {
  const type = strategy.type || 'RollingUpdate'
  if (type !== 'RollingUpdate') return strategy
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {}
  if (strategy.type !== undefined && maxUnavailable !== undefined && maxSurge !== undefined) return strategy
  return { type, rollingUpdate: { maxUnavailable: maxUnavailable ?? 1, maxSurge: maxSurge ?? 0 } }
}

/** Clients may start with a count of their own, but never change it. */
function templateGeneration({ metadata }: DaemonSet): number {
  return Math.max(Number.parseInt(metadata.annotations?.[templateGenerationAnnotation] ?? '1', 10) || 1, 1)
}

function withTemplateGeneration(daemonSet: DaemonSet, generation: number): DaemonSet {
  const { metadata } = daemonSet
  const annotations = { ...metadata.annotations, [templateGenerationAnnotation]: String(generation) }
  return { ...daemonSet, metadata: { ...metadata, annotations } }
}

/** `apps/v1` daemonsets. */
export const daemonSets = kind<DaemonSet>(daemonSetSchema, {
  plural: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  columns: [
    nameColumn,
    column('Desired', ({ status }) => status?.desiredNumberScheduled ?? 0, { field: 'status.desiredNumberScheduled' }),
    column('Current', ({ status }) => status?.currentNumberScheduled ?? 0, { field: 'status.currentNumberScheduled' }),
    column('Ready', ({ status }) => status?.numberReady ?? 0, { field: 'status.numberReady' }),
    column('Up-to-date', ({ status }) => status?.updatedNumberScheduled ?? 0, {
      field: 'status.updatedNumberScheduled',
    }),
    column('Available', ({ status }) => status?.numberAvailable ?? 0, { field: 'status.numberAvailable' }),
    column('Node Selector', ({ spec }) => formatLabels(spec.template.spec.nodeSelector), 'Labels the nodes must have.'),
    ageColumn,
    ...containerColumns<DaemonSet>(({ spec }) => spec.template),
    wideColumn('Selector', ({ spec }) => formatSelector(spec.selector), { field: 'spec.selector' }),
  ],
  defaults: withDefaults,
  countsGenerations: true,
  prepareForCreate: (daemonSet) => ({
    ...withTemplateGeneration(withoutDisabledTemplateFields(daemonSet), templateGeneration(daemonSet)),
    status: noPods,
  }),
  prepareForUpdate: (given, old) => {
    const daemonSet = withoutDisabledTemplateFields(given, old)
    const isSame = deepEqual(daemonSet.spec.template, old.spec.template)
    return withTemplateGeneration(daemonSet, templateGeneration(old) + (isSame ? 0 : 1))
  },
  validate: validateDaemonSet,
  validateUpdate: validateDaemonSetUpdate,
  validateStatusUpdate: validateDaemonSetStatusUpdate,
  warnings: (daemonSet, old) =>
    old !== undefined && templateGeneration(daemonSet) === templateGeneration(old)
      ? []
      : podTemplateWarnings(daemonSet.spec.template, templatePath, daemonSet, old),
})
