import { FieldPath } from '../../../field-path.ts'
import { mapShared, withFields } from '../../../schema/with-fields.ts'
import { ageColumn, column, nameColumn } from '../../columns.ts'
import { type PersistentVolumeClaim, persistentVolumeClaimSchema } from '../../core/persistent-volume-claim/schema.ts'
import { withoutDisabledTemplateFields } from '../../core/pod/disabled-fields.ts'
import { containerColumns } from '../../core/pod/pod-template-columns.ts'
import { podTemplateDefaults } from '../../core/pod/pod-template-defaults.ts'
import { nameWarnings, podTemplateWarnings, storageWarnings } from '../../core/pod/pod-warnings.ts'
import { kind } from '../../kind.ts'
import { selectorScale } from '../selector-scale.ts'
import { statefulSetChecks } from './stateful-set-checks.ts'
import {
  type StatefulSet,
  type StatefulSetUpdateStrategy,
  statefulSetSchema,
  statefulSetSpec,
} from './stateful-set-schema.ts'

const templatePath = FieldPath.of('spec', 'template')
const claimsPath = FieldPath.of('spec', 'volumeClaimTemplates')

/** apps/v1 SetDefaults_StatefulSet. */
function withDefaults(statefulSet: StatefulSet): StatefulSet {
  const { template, updateStrategy = {}, volumeClaimTemplates } = statefulSet.spec
  const spec = withFields(statefulSetSpec, statefulSet.spec, {
    template: podTemplateDefaults(template),
    updateStrategy: strategyDefaults(updateStrategy),
    volumeClaimTemplates: mapShared(volumeClaimTemplates, claimDefaults),
  })
  return withFields(statefulSetSchema, statefulSet, { spec })
}

/** A strategy that is named has no partition of its own accord: that is how upstream's first versions had it. */
function strategyDefaults(strategy: StatefulSetUpdateStrategy): StatefulSetUpdateStrategy {
  const type = strategy.type || 'RollingUpdate'
  const rollingUpdate = strategy.rollingUpdate ?? (strategy.type ? undefined : {})
  if (type !== 'RollingUpdate' || rollingUpdate === undefined) return strategy
  if (strategy.type && rollingUpdate.partition !== undefined) return strategy
  return { type, rollingUpdate: { partition: 0, ...rollingUpdate } }
}

const claimDefaults = (claim: PersistentVolumeClaim): PersistentVolumeClaim =>
  withFields(persistentVolumeClaimSchema, claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' })

/** Upstream has the field behind the gate MaxUnavailableStatefulSet, which is off: it is only kept where it has been before. */
function withoutMaxUnavailable(statefulSet: StatefulSet, old?: StatefulSet): StatefulSet {
  const { rollingUpdate } = statefulSet.spec.updateStrategy ?? {}
  if (rollingUpdate?.maxUnavailable === undefined) return statefulSet
  if (old?.spec.updateStrategy?.rollingUpdate?.maxUnavailable !== undefined) return statefulSet
  const { maxUnavailable: _dropped, ...kept } = rollingUpdate
  const updateStrategy = { ...statefulSet.spec.updateStrategy, rollingUpdate: kept }
  return { ...statefulSet, spec: { ...statefulSet.spec, updateStrategy } }
}

function warnings(statefulSet: StatefulSet, old: StatefulSet | undefined): readonly string[] {
  const { template, volumeClaimTemplates = [], revisionHistoryLimit = 0 } = statefulSet.spec
  // Upstream names the claims' spec on updates alone, and like its Go field.
  const claimPath = (index: number) =>
    old === undefined ? claimsPath.index(index) : claimsPath.index(index).field('Spec')
  return [
    ...nameWarnings(statefulSet, old, 'Pod names and hostnames'),
    ...podTemplateWarnings(template, templatePath, statefulSet, old),
    ...volumeClaimTemplates.flatMap(({ spec }, index) =>
      storageWarnings(spec?.resources, claimPath(index).field('resources')),
    ),
    ...(revisionHistoryLimit < 0
      ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
      : []),
  ]
}

/** `apps/v1` statefulsets. */
export const statefulSets = kind<StatefulSet>(statefulSetSchema, {
  plural: 'statefulsets',
  shortNames: ['sts'],
  // Its pods are called after it.
  nameFormat: 'dns1123-label',
  categories: ['all'],
  scale: selectorScale<StatefulSet>(),
  columns: [
    nameColumn,
    column('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 1}`, {
      type: 'string',
      description: 'How many pods are ready, of those wanted.',
    }),
    ageColumn,
    ...containerColumns<StatefulSet>(({ spec }) => spec.template),
  ],
  defaults: withDefaults,
  countsGenerations: true,
  prepareForCreate: (statefulSet) => ({
    ...withoutMaxUnavailable(withoutDisabledTemplateFields(statefulSet)),
    status: { replicas: 0, availableReplicas: 0 },
  }),
  prepareForUpdate: (statefulSet, old) => withoutMaxUnavailable(withoutDisabledTemplateFields(statefulSet, old), old),
  load: statefulSetChecks.load,
  validate: (statefulSet) => statefulSetChecks.get().validateStatefulSet(statefulSet),
  validateCreate: (statefulSet) => statefulSetChecks.get().validateNewStatefulSet(statefulSet),
  validateUpdate: (statefulSet, old) => statefulSetChecks.get().validateStatefulSetUpdate(statefulSet, old),
  validateStatusUpdate: (statefulSet, old) => statefulSetChecks.get().validateStatefulSetStatusUpdate(statefulSet, old),
  warnings,
})
