/** Upstream's ValidateStatefulSet (pkg/apis/apps/validation). */
import { deepEqual } from '../../../equality.ts'
import { type FieldError, forbiddenField, invalidField, requiredField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { validateClaimSpec } from '../../core/persistent-volume-claim/claim-spec-validation.ts'
import { checkRequiredSelector, validateSelectedTemplate } from '../../core/pod/replicated-template.ts'
import { checkText } from '../../core/pod/validation/checks.ts'
import {
  checkAtMostAll,
  checkCountAtMost,
  checkCounts,
  checkIntOrPercent,
  checkNonNegative,
  checkNotDecremented,
  isNone,
} from '../../validation.ts'
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from './stateful-set-schema.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')

export function validateStatefulSet({ spec }: StatefulSet): readonly FieldError[] {
  const { selector, podManagementPolicy = '', updateStrategy = {}, ordinals } = spec
  const policyPath = specPath.field('podManagementPolicy')
  return [
    ...(podManagementPolicy === 'OrderedReady' || podManagementPolicy === 'Parallel'
      ? []
      : [invalidField(policyPath, podManagementPolicy, "must be 'OrderedReady' or 'Parallel'")]),
    ...checkUpdateStrategy(updateStrategy, specPath.field('updateStrategy')),
    ...checkNonNegative(spec.replicas, specPath.field('replicas')),
    ...checkNonNegative(spec.minReadySeconds, specPath.field('minReadySeconds')),
    ...checkNonNegative(ordinals?.start, specPath.field('ordinals.start')),
    // A selector that is missing is told by the schema.
    ...(selector === undefined ? [] : checkRequiredSelector(selector, specPath.field('selector'), 'statefulset')),
    ...validateSelectedTemplate(withoutNames(withClaims(spec)), selector, specPath, 'StatefulSet', ''),
    ...claimNameErrors(spec),
  ]
}

/** The template without the names that each of its pods has of its own, whatever it says. */
function withoutNames(template: StatefulSetSpec['template']): StatefulSetSpec['template'] {
  const { hostname, subdomain, ...spec } = template.spec
  return hostname === undefined && subdomain === undefined ? template : { ...template, spec }
}

/** The template with the volumes that its pods will have for their claims: containers may mount them. */
function withClaims({ template, volumeClaimTemplates = [] }: StatefulSetSpec): StatefulSetSpec['template'] {
  if (volumeClaimTemplates.length === 0) return template
  const { volumes = [] } = template.spec
  // Two claims of one name are one volume.
  const names = new Set(volumeClaimTemplates.map(({ metadata: { name = '' } = {} }) => name))
  const claims = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))
  // A claim takes the place of a volume of that name; the others come after, as in upstream's messages.
  const kept = volumes.filter(({ name }) => !names.has(name))
  return { ...template, spec: { ...template.spec, volumes: [...claims, ...kept] } }
}

/** The names of claims are those of the volumes that pods will have for them. */
function claimNameErrors({ volumeClaimTemplates = [] }: StatefulSetSpec): readonly FieldError[] {
  const path = specPath.field('template').field('spec').field('volumes')
  return volumeClaimTemplates.flatMap(({ metadata: { name = '' } = {} }, index) => {
    const at = path.index(index)
    return name === ''
      ? [requiredField(at.field('persistentVolumeClaim').field('claimName')), requiredField(at.field('name'))]
      : checkText('dns1123-label', name, at.field('name'))
  })
}

/** The claims that a new set is to make; those of an older one stay as they are. */
export function validateNewStatefulSet({ spec }: StatefulSet): readonly FieldError[] {
  const { serviceName, volumeClaimTemplates = [] } = spec
  return [
    ...volumeClaimTemplates.flatMap((claim, index) =>
      validateClaimSpec(claim.spec ?? {}, specPath.field('volumeClaimTemplates').index(index).field('spec')),
    ),
    ...checkText('dns1123-label', serviceName, specPath.field('serviceName')),
  ]
}

const mutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const satisfies readonly (keyof StatefulSetSpec)[]

export function validateStatefulSetUpdate({ spec }: StatefulSet, old: StatefulSet): readonly FieldError[] {
  const replaced: Partial<Record<keyof StatefulSetSpec, unknown>> = { ...spec }
  for (const field of mutable) replaced[field] = old.spec[field]
  if (deepEqual(replaced, old.spec)) return []
  const why =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
  return [forbiddenField(specPath, why)]
}

export function validateStatefulSetStatusUpdate({ status }: StatefulSet, old: StatefulSet): readonly FieldError[] {
  if (status === undefined) return []
  const within = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const
  const names = ['replicas', ...within, 'observedGeneration', 'collisionCount'] as const
  const { replicas, readyReplicas, availableReplicas, collisionCount } = status
  return [
    ...checkCounts(status, names, statusPath),
    ...within.flatMap((name) => checkCountAtMost(status[name], replicas, statusPath.field(name), 'status.replicas')),
    ...checkCountAtMost(
      availableReplicas,
      readyReplicas,
      statusPath.field('availableReplicas'),
      'status.readyReplicas',
    ),
    ...checkNotDecremented(collisionCount, old.status?.collisionCount, statusPath.field('collisionCount')),
  ]
}

function checkUpdateStrategy(strategy: StatefulSetUpdateStrategy, path: FieldPath): readonly FieldError[] {
  const { type, rollingUpdate } = strategy
  const rollingPath = path.field('rollingUpdate')
  switch (type) {
    case 'OnDelete':
      if (rollingUpdate === undefined) return []
      return [
        invalidField(rollingPath, shownRollingUpdate(rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'"),
      ]
    case 'RollingUpdate':
      return rollingUpdate === undefined ? [] : checkRollingUpdate(rollingUpdate, rollingPath)
    default:
      return [invalidField(path, shownStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'")]
  }
}

const shownStrategy = ({ type, rollingUpdate }: StatefulSetUpdateStrategy): unknown => ({
  Type: type,
  RollingUpdate: rollingUpdate === undefined ? null : shownRollingUpdate(rollingUpdate),
})

const shownRollingUpdate = ({ partition = 0, maxUnavailable }: RollingUpdateStatefulSetStrategy): unknown => ({
  Partition: partition,
  MaxUnavailable: maxUnavailable ?? null,
})

function checkRollingUpdate(
  { partition, maxUnavailable }: RollingUpdateStatefulSetStrategy,
  path: FieldPath,
): readonly FieldError[] {
  const at = path.field('maxUnavailable')
  return [
    ...checkNonNegative(partition, path.field('partition')),
    ...checkIntOrPercent(maxUnavailable, at),
    ...(maxUnavailable !== undefined && isNone(maxUnavailable)
      ? [invalidField(at, maxUnavailable, 'cannot be 0')]
      : []),
    ...checkAtMostAll(maxUnavailable, at),
  ]
}
