import { deepEqual } from '../../../equality.ts'
import { type FieldError, forbiddenField, invalidField, requiredField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { structValue } from '../../../internal-structs/struct-value.ts'
import { describeChanges } from '../../changes-text.ts'
import { shownMap } from '../../shown-values.ts'
import type { NodeSelectorTerm } from '../common.ts'
import type { Affinity } from './affinity.ts'
import type { Container } from './container.ts'
import type { Pod } from './pod-schema.ts'
import type { PodSpec } from './pod-spec.ts'
import type { PodSchedulingGate, Toleration } from './scheduling.ts'
import { annotationUpdateErrors } from './validation/annotations.ts'
import { checkRange, int32Max } from './validation/checks.ts'
import { imageWhitespace } from './validation/containers.ts'
import { validateTolerations } from './validation/scheduling.ts'

const specPath = FieldPath.of('spec')
const annotationsPath = FieldPath.of('metadata', 'annotations')

/** What an update may change; upstream's list, word for word since people search for it. */
const updatableFields = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
]

/** What an update of a pod may not do (core/validation ValidatePodUpdate). */
export function validatePodUpdate(pod: Pod, old: Pod): FieldError[] {
  const ofAnnotations = annotationUpdateErrors(pod.metadata.annotations, old.metadata.annotations, annotationsPath)
  return [...ofAnnotations, ...specUpdateErrors(pod.spec, old.spec)]
}

function specUpdateErrors(spec: PodSpec, oldSpec: PodSpec): FieldError[] {
  if (spec === oldSpec) return []
  const errors: FieldError[] = []
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list]?.length ?? 0) !== (oldSpec[list]?.length ?? 0)) {
      return [...errors, forbiddenField(specPath.field(list), 'pod updates may not add or remove containers')]
    }
    errors.push(...imageErrors(spec[list] ?? [], oldSpec[list] ?? [], specPath.field(list)))
  }
  const deadline = deadlineErrors(spec.activeDeadlineSeconds, oldSpec.activeDeadlineSeconds)
  if (deadline.length > 0 && spec.activeDeadlineSeconds !== undefined) return [...errors, ...deadline]
  return [
    ...errors,
    ...deadline,
    ...tolerationErrors(spec.tolerations ?? [], oldSpec.tolerations ?? []),
    ...gateErrors(spec.schedulingGates ?? [], oldSpec.schedulingGates ?? []),
    ...gatedPodErrors(spec, oldSpec),
    ...otherChanges(spec, oldSpec),
  ]
}

/** Upstream tells twice what is wrong with an image. */
function imageErrors(containers: readonly Container[], old: readonly Container[], path: FieldPath): FieldError[] {
  if (containers === old) return []
  return containers.flatMap((container, index) => [
    ...(container.image ? [] : [requiredField(path.index(index).field('image'))]),
    ...imageWhitespace(container, path.index(index)),
  ])
}

function deadlineErrors(seconds: number | undefined, old: number | undefined): FieldError[] {
  const path = specPath.field('activeDeadlineSeconds')
  const outOfRange = checkRange(seconds, 0, int32Max, path)
  if (outOfRange.length > 0 || old === undefined) return outOfRange
  if (seconds === undefined) return [invalidField(path, null, 'must not update from a positive integer to nil value')]
  return seconds > old ? [invalidField(path, seconds, 'must be less than or equal to previous value')] : []
}

function tolerationErrors(tolerations: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  if (tolerations === old) return []
  const path = specPath.field('tolerations')
  const present = new Set(tolerations.map(tolerationIdentity))
  // Upstream tells twice what is wrong with a toleration.
  if (old.every((before) => present.has(tolerationIdentity(before)))) return validateTolerations(tolerations, path)
  const rule = 'existing toleration can not be modified except its tolerationSeconds'
  return [forbiddenField(path, rule)]
}

/** What tells tolerations apart, their seconds aside. */
const tolerationIdentity = ({ key = '', operator = '', value = '', effect = '' }: Toleration): string =>
  JSON.stringify([key, operator, value, effect])

function gateErrors(gates: readonly PodSchedulingGate[], old: readonly PodSchedulingGate[]): FieldError[] {
  const present = new Set(old.map(({ name }) => name))
  return gates.flatMap(({ name }, index) => {
    if (present.has(name)) return []
    const rule = `only deletion is allowed, but found new scheduling gate '${name}'`
    return [forbiddenField(specPath.field('schedulingGates').index(index).field('name'), rule)]
  })
}

/** While a pod is gated, where it may run can be narrowed: https://kep.k8s.io/3838. */
function gatedPodErrors(spec: PodSpec, old: PodSpec): FieldError[] {
  if (!isGated(old)) return []
  return [
    ...nodeSelectorErrors(spec, old),
    ...nodeAffinityErrors(spec.affinity?.nodeAffinity, old.affinity?.nodeAffinity),
  ]
}

const isGated = (spec: PodSpec): boolean => (spec.schedulingGates ?? []).length > 0

function nodeSelectorErrors({ nodeSelector = {} }: PodSpec, old: PodSpec): FieldError[] {
  const kept = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => nodeSelector[key] === value)
  if (kept) return []
  const rule = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
  return [invalidField(specPath.field('nodeSelector'), shownMap(nodeSelector), rule)]
}

type NodeAffinity = Affinity['nodeAffinity']

function nodeAffinityErrors(affinity: NodeAffinity, old: NodeAffinity): FieldError[] {
  const oldTerms = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  if (oldTerms.length === 0) return []
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const path = specPath
    .field('affinity')
    .field('nodeAffinity')
    .field('requiredDuringSchedulingIgnoredDuringExecution')
    .field('nodeSelectorTerms')
  if (terms.length !== oldTerms.length) {
    return [
      invalidField(
        path,
        structValue('core.NodeSelectorTerm', terms),
        'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      ),
    ]
  }
  return terms.flatMap((term, index) =>
    onlyAdds(term, oldTerms[index] ?? {})
      ? []
      : [
          invalidField(
            path.index(index),
            structValue('core.NodeSelectorTerm', term),
            'only additions are allowed (no mutations or deletions)',
          ),
        ],
  )
}

/** An empty term matches nothing, so adding to it would widen it. */
function onlyAdds(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const
  if (lists.every((list) => (old[list] ?? []).length === 0)) return deepEqual(term, old)
  return lists.every((list) => (old[list] ?? []).every((before, index) => deepEqual(term[list]?.[index], before)))
}

/** Whatever differs once the changes that have rules of their own are set aside. */
function otherChanges(spec: PodSpec, old: PodSpec): FieldError[] {
  const comparable = withAllowedChanges(spec, old)
  if (deepEqual(comparable, old)) return []
  const changes = describeChanges(old, comparable)
  const rule = `pod updates may not change fields other than ${updatableFields.join(',')}`
  return [forbiddenField(specPath, [rule, ...changes].join('\n'))]
}

/** The new spec with everything that an update may change put back. */
function withAllowedChanges(spec: PodSpec, old: PodSpec): PodSpec {
  const graceMayEnd = (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1
  return {
    ...spec,
    containers: withImagesOf(spec.containers, old.containers) ?? [],
    initContainers: withImagesOf(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
    ...(graceMayEnd ? { terminationGracePeriodSeconds: old.terminationGracePeriodSeconds } : {}),
    ...(isGated(old)
      ? { nodeSelector: old.nodeSelector, affinity: withNodeAffinityOf(spec.affinity, old.affinity) }
      : {}),
  }
}

const withImagesOf = (containers: readonly Container[] | undefined, old: readonly Container[] | undefined) =>
  containers?.map((container, index): Container => ({ ...container, image: old?.[index]?.image }))

function withNodeAffinityOf(affinity: Affinity | undefined, old: Affinity | undefined): Affinity | undefined {
  const mixed = { ...affinity, nodeAffinity: old?.nodeAffinity }
  const isEmpty = Object.values(mixed).every((each) => each === undefined)
  return isEmpty && old === undefined ? undefined : mixed
}
