/** Rules for templates of pods that are to run on and on, in the words of apps/validation and core/validation. */
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { type LabelSelectorMatcher, selectorFromLabelSelector } from '../../../selectors.ts'
import { shownMap, shownSelector } from '../../shown-values.ts'
import type { LabelSelector } from '../common.ts'
import type { PodTemplateSpec } from './pod-template.ts'
import { validatePodTemplateSpec } from './pod-validation.ts'
import { checkLabelSelector } from './validation/checks.ts'

/**
 * What is wrong with the template of a controller that replaces pods which end. `kind` is whose template the messages call
 * it; an absent selector selects nothing.
 */
export function validateReplicatedTemplate(
  template: PodTemplateSpec,
  selector: LabelSelectorMatcher | undefined,
  path: FieldPath,
  kind: string,
): readonly FieldError[] {
  return [
    ...(selector === undefined ? [] : checkTemplateLabels(template, selector, path)),
    ...validatePodTemplateSpec(template, path),
    ...checkLongRunning(template, path.field('spec'), kind),
  ]
}

/** The pods that a template makes must count. A selector of everything asks nothing of them. */
export function checkTemplateLabels(
  { metadata }: PodTemplateSpec,
  selector: LabelSelectorMatcher,
  path: FieldPath,
): readonly FieldError[] {
  const labels = metadata?.labels
  if (selector.matches(labels)) return []
  const at = path.field('metadata').field('labels')
  const shown = labels === undefined ? noLabels : shownMap(labels)
  return [invalidField(at, shown, '`selector` does not match template `labels`')]
}

/** Shown as null: upstream has an empty map there, which is not the same as a value that is missing. */
const noLabels = { toJSON: () => null }

/** Pods that are replaced when they end never end by themselves. */
export function checkLongRunning({ spec }: PodTemplateSpec, path: FieldPath, kind: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (spec.restartPolicy !== undefined && spec.restartPolicy !== 'Always') {
    errors.push(unsupportedField(path.field('restartPolicy'), spec.restartPolicy, ['Always']))
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    const why = `activeDeadlineSeconds in ${kind} is not Supported`
    errors.push(forbiddenField(path.field('activeDeadlineSeconds'), why))
  }
  return errors
}

/** What is wrong with a selector that must be there and select something less than everything. */
export function checkRequiredSelector(
  selector: LabelSelector | undefined,
  path: FieldPath,
  kind: string,
): readonly FieldError[] {
  if (selector === undefined) return [requiredField(path)]
  return [
    ...checkLabelSelector(selector, path),
    ...(isEmptySelector(selector) ? [invalidField(path, selector, `empty selector is invalid for ${kind}`)] : []),
  ]
}

/**
 * What is wrong with the template at `path.template` of a controller with the selector at `path.selector`. Nothing is said of the
 * template where the selector is none: then that is said, in the words `why`.
 */
export function validateSelectedTemplate(
  template: PodTemplateSpec,
  selector: LabelSelector | undefined,
  path: FieldPath,
  kind: string,
  why: string,
): readonly FieldError[] {
  const matcher = matcherOf(selector)
  if (matcher === undefined) return [invalidField(path.field('selector'), shownSelector(selector), why)]
  return validateReplicatedTemplate(template, matcher, path.field('template'), kind)
}

/** The selector ready to match; undefined where something is wrong in it, which checkLabelSelector tells. */
export function matcherOf(selector: LabelSelector | undefined): LabelSelectorMatcher | undefined {
  if (selector !== undefined && checkLabelSelector(selector, FieldPath.root).length > 0) return undefined
  return selectorFromLabelSelector(selector)
}

function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0
}
