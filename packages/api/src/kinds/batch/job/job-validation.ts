import { deepEqual } from '../../../equality.ts'
import { type FieldError, invalidField, requiredField, tooLongField, unsupportedField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import type { ShownStruct } from '../../../internal-structs/data.ts'
/** Upstream's ValidateJob (pkg/apis/batch/validation). */
import { structValue } from '../../../internal-structs/struct-value.ts'
import { checkDomainPrefixedPath, checkFormat } from '../../../string-formats.ts'
import type { Container } from '../../core/pod/container.ts'
import type { PodTemplateSpec } from '../../core/pod/pod-template.ts'
import { validatePodTemplateSpec } from '../../core/pod/pod-validation.ts'
import { checkTemplateLabels, matcherOf } from '../../core/pod/replicated-template.ts'
import { checkLabelSelector } from '../../core/pod/validation/checks.ts'
import { shownMap } from '../../shown-values.ts'
import { checkNonNegative, checkUnchanged } from '../../validation.ts'
import { hasJobCondition } from './job-conditions.ts'
import { validateDependencies, validateDependenciesUpdate } from './job-dependencies.ts'
import { checkPodFailurePolicy, checkSuccessPolicy } from './job-policy-validation.ts'
import type { Job, JobSpec } from './job-schema.ts'
import { generatedLabels, jobLabels } from './job-selector.ts'

const specPath = FieldPath.of('spec')
const indexedParallelismMax = 100_000
const failedIndexesMax = 100_000
/** Beyond so many completions of indexes that fail by themselves, there must be less of everything else. */
const highCompletions = 100_000
const highCompletionsLimit = 10_000
const managedByLengthMax = 63

export function validateJob(job: Job): readonly FieldError[] {
  const { metadata, spec } = job
  const { selector } = spec
  const matcher = matcherOf(selector)
  const selectorPath = specPath.field('selector')
  return [
    ...generatedSelectorErrors(job),
    ...validateJobSpec(spec, specPath),
    ...(selector === undefined ? [requiredField(selectorPath)] : checkLabelSelector(selector, selectorPath)),
    ...(matcher === undefined ? [] : checkTemplateLabels(spec.template, matcher, specPath.field('template'))),
    ...hostnameErrors(job),
    ...validateDependencies(metadata, metadata.name),
  ]
}

const structs: Readonly<Record<string, ShownStruct>> = {
  podFailurePolicy: 'batch.PodFailurePolicy',
  successPolicy: 'batch.SuccessPolicy',
}

/** What an update may not change: whatever says which pods count, and how. */
export function validateJobUpdate({ metadata, spec }: Job, old: Job): readonly FieldError[] {
  const fixed = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const
  return [
    ...completionsErrors(spec, old.spec),
    ...checkUnchanged(spec.selector, old.spec.selector, specPath.field('selector'), 'metav1.LabelSelector'),
    ...templateErrors(spec.template, old),
    ...fixed.flatMap((field) => checkUnchanged(spec[field], old.spec[field], specPath.field(field), structs[field])),
    ...validateDependenciesUpdate(metadata, old.metadata),
  ]
}

/** What is wrong with the spec of a Job, or of a template of Jobs, but for its selector. */
export function validateJobSpec(spec: JobSpec, path: FieldPath): readonly FieldError[] {
  const counts = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
  ] as const
  return [
    ...counts.flatMap((field) => checkNonNegative(spec[field], path.field(field))),
    ...checkNonNegative(spec.backoffLimitPerIndex, path.field('backoffLimitPerIndex')),
    ...checkNonNegative(spec.maxFailedIndexes, path.field('maxFailedIndexes')),
    ...(spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
      ? [requiredField(path.field('backoffLimitPerIndex'), 'when maxFailedIndexes is specified')]
      : []),
    ...(spec.managedBy === undefined ? [] : managedByErrors(spec.managedBy, path.field('managedBy'))),
    ...completionModeErrors(spec, path),
    ...(spec.podFailurePolicy === undefined ? [] : checkPodFailurePolicy(spec, path.field('podFailurePolicy'))),
    ...successPolicyErrors(spec, path.field('successPolicy')),
    ...replacementErrors(spec, path.field('podReplacementPolicy')),
    ...validatePodTemplateSpec(spec.template, path.field('template')),
    ...restartPolicyErrors(spec, path.field('template').field('spec').field('restartPolicy')),
  ]
}

const { controllerUid, jobName, legacyControllerUid, legacyJobName } = jobLabels
const labelsInCheckedOrder = [legacyControllerUid, legacyJobName, controllerUid, jobName]

/** The selector is the one that the server makes, and the pods carry the labels that it makes. */
function generatedSelectorErrors(job: Job): readonly FieldError[] {
  const { spec } = job
  if (spec.manualSelector === true || spec.selector === undefined) return []
  const labels = generatedLabels(job)
  const path = specPath.field('template').field('metadata').field('labels')
  const own = spec.template.metadata?.labels ?? {}
  const errors = labelsInCheckedOrder
    .filter((label) => own[label] !== labels[label])
    .map((label) =>
      own[label] === undefined
        ? requiredField(path.key(label), `must be '${labels[label]}'`)
        : invalidField(path.key(label), shownMap(own), `must be '${labels[label]}'`),
    )
  if (matcherOf(spec.selector)?.matches(labels) !== false) return errors
  return [
    ...errors,
    invalidField(
      specPath.field('selector'),
      structValue('metav1.LabelSelector', spec.selector),
      '`selector` not auto-generated',
    ),
  ]
}

/** Pods of an index are called after the Job and the index, by their names in the network too. */
function hostnameErrors({ metadata: { name = '' }, spec }: Job): readonly FieldError[] {
  const { completionMode, completions = 0 } = spec
  if (completionMode !== 'Indexed' || completions <= 0) return []
  const hostname = `${name}-${completions - 1}`
  return checkFormat('dns1123-label', hostname).map(() =>
    invalidField(
      FieldPath.of('metadata', 'name'),
      name,
      `will not able to create pod with invalid DNS label: ${hostname}`,
    ),
  )
}

function managedByErrors(managedBy: string, path: FieldPath): readonly FieldError[] {
  const isTooLong = Buffer.byteLength(managedBy) > managedByLengthMax
  return [...checkDomainPrefixedPath(managedBy, path), ...(isTooLong ? [tooLongField(path, managedByLengthMax)] : [])]
}

function completionModeErrors(spec: JobSpec, path: FieldPath): readonly FieldError[] {
  const { completionMode } = spec
  if (completionMode === 'Indexed') return indexedErrors(spec, path)
  if (completionMode !== undefined && completionMode !== 'NonIndexed') {
    return [unsupportedField(path.field('completionMode'), completionMode, ['NonIndexed', 'Indexed'])]
  }
  return (['backoffLimitPerIndex', 'maxFailedIndexes'] as const)
    .filter((field) => spec[field] !== undefined)
    .map((field) => invalidField(path.field(field), spec[field], requiresIndexed))
}

const requiresIndexed = 'requires indexed completion mode'

function successPolicyErrors(spec: JobSpec, path: FieldPath): readonly FieldError[] {
  const { completionMode, completions, successPolicy } = spec
  if (successPolicy === undefined) return []
  if (completionMode !== 'Indexed')
    return [invalidField(path, structValue('batch.SuccessPolicy', successPolicy), requiresIndexed)]
  return completions === undefined ? [] : checkSuccessPolicy(spec, path)
}

function indexedErrors(spec: JobSpec, path: FieldPath): readonly FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex } = spec
  const errors: FieldError[] = []
  const atMost = (field: 'parallelism' | 'maxFailedIndexes', limit: number, when: string): void => {
    if ((spec[field] ?? 0) > limit) {
      errors.push(invalidField(path.field(field), spec[field], `must be less than or equal to ${limit}${when}`))
    }
  }
  if (completions === undefined)
    errors.push(requiredField(path.field('completions'), 'when completion mode is Indexed'))
  if (parallelism > indexedParallelismMax)
    atMost('parallelism', indexedParallelismMax, ' when completion mode is Indexed')
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    errors.push(
      invalidField(path.field('maxFailedIndexes'), maxFailedIndexes, 'must be less than or equal to completions'),
    )
  }
  atMost('maxFailedIndexes', failedIndexesMax, '')
  if (completions !== undefined && completions > highCompletions && backoffLimitPerIndex !== undefined) {
    const when = ` when completions are above ${highCompletions} and used with backoff limit per index`
    if (maxFailedIndexes === undefined) {
      const why = `must be specified when completions is above ${highCompletions}`
      errors.push(requiredField(path.field('maxFailedIndexes'), why))
    }
    atMost('parallelism', highCompletionsLimit, when)
    atMost('maxFailedIndexes', highCompletionsLimit, when)
  }
  return errors
}

function replacementErrors(
  { podReplacementPolicy, podFailurePolicy }: JobSpec,
  path: FieldPath,
): readonly FieldError[] {
  if (podReplacementPolicy === undefined) return []
  const supported = podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed']
  return supported.includes(podReplacementPolicy) ? [] : [unsupportedField(path, podReplacementPolicy, supported)]
}

const jobRestartPolicies: readonly string[] = ['OnFailure', 'Never']

function restartPolicyErrors({ template, podFailurePolicy }: JobSpec, path: FieldPath): readonly FieldError[] {
  const { restartPolicy = 'Always' } = template.spec
  // It is what a pod has that says nothing: whoever wrote the Job has forgotten it.
  if (restartPolicy === 'Always') return [requiredField(path, 'valid values: "OnFailure", "Never"')]
  if (!jobRestartPolicies.includes(restartPolicy)) return [unsupportedField(path, restartPolicy, jobRestartPolicies)]
  if (podFailurePolicy !== undefined && restartPolicy !== 'Never') {
    return [invalidField(path, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified')]
  }
  return []
}

/** Indexes can be added and taken away, as long as all of them run at once. */
function completionsErrors(spec: JobSpec, old: JobSpec): readonly FieldError[] {
  const path = specPath.field('completions')
  if (spec.completionMode !== 'Indexed') return checkUnchanged(spec.completions, old.completions, path)
  if (spec.completions === old.completions || spec.completions === undefined) return []
  if (spec.completions === spec.parallelism) return []
  return [invalidField(path, spec.completions, 'can only be modified in tandem with spec.parallelism')]
}

/** Of a template from which no pod runs only the pods themselves are compared: its metadata may change. */
function templateErrors(template: PodTemplateSpec, old: Job): readonly FieldError[] {
  const [path, before] = [specPath.field('template'), old.spec.template]
  if (!isAtRest(old)) return checkUnchanged(template, before, path, 'core.PodTemplateSpec')
  return checkUnchanged(template.spec, comparablePods(template, before), path.field('spec'), 'core.PodSpec')
}

/**
 * The pods of the old template with what may change while none runs that was made from it: where they may run (https://kep.k8s.io/2926),
 * and what their containers ask for (https://kep.k8s.io/5440).
 */
function comparablePods(template: PodTemplateSpec, before: PodTemplateSpec): PodTemplateSpec['spec'] {
  const { affinity, nodeSelector, tolerations, schedulingGates } = template.spec
  const nodeAffinity = affinity?.nodeAffinity
  const { nodeAffinity: _nodeAffinity, ...others } = before.spec.affinity ?? {}
  const otherAffinity = { ...others, ...(nodeAffinity === undefined ? {} : { nodeAffinity }) }
  const isEmpty = affinity === undefined && deepEqual(otherAffinity, {})
  const { containers, initContainers } = before.spec
  return {
    ...before.spec,
    affinity: isEmpty ? undefined : otherAffinity,
    nodeSelector,
    tolerations,
    schedulingGates,
    containers: withResourcesOf(template.spec.containers, containers) ?? [],
    initContainers: withResourcesOf(template.spec.initContainers, initContainers),
  }
}

/** Whether a Job is suspended, and either has never started or has had all of its pods told to go. */
function isAtRest({ spec, status = {} }: Job): boolean {
  if (spec.suspend !== true || (status.active ?? 0) > 0) return false
  return status.startTime === undefined || hasJobCondition(status, 'Suspended')
}

/** The old containers, each with the resources of the new one in its place; undefined where there are none. */
function withResourcesOf(
  containers: readonly Container[] | undefined,
  old: readonly Container[] | undefined,
): readonly Container[] | undefined {
  return old?.map((container, index) => {
    const resources = containers?.[index]?.resources
    const { resources: _resources, ...rest } = container
    return resources === undefined ? rest : { ...rest, resources }
  })
}
