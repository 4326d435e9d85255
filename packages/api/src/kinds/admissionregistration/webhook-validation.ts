/** What is wrong with webhooks, in the words of upstream's validation of admissionregistration. */
import { type FieldError, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { repeatedAt } from '../../finder.ts'
import { checkFormat } from '../../string-formats.ts'
import { checkLabelSelector } from '../core/pod/validation/checks.ts'
import { validateWebhookClientConfig } from '../webhook-client-config.ts'
import { validateMatchConditions, validateRule } from './rule-validation.ts'
import type { MutatingWebhook, ValidatingWebhook } from './webhook-schema.ts'

/** Versions of AdmissionReview that this server speaks. */
export const admissionReviewVersions: readonly string[] = ['v1', 'v1beta1']

const timeoutSecondsMax = 30

export function validateMutatingWebhooks(webhooks: readonly MutatingWebhook[]): readonly FieldError[] {
  return validateValidatingWebhooks(webhooks)
}

export function validateValidatingWebhooks(webhooks: readonly ValidatingWebhook[]): readonly FieldError[] {
  return webhooks.flatMap((webhook, index) => webhookErrors(webhook, FieldPath.of('webhooks').index(index)))
}

/** What values are allowed where there are few, and that names are unique, the schema says. */
function webhookErrors(webhook: ValidatingWebhook, path: FieldPath): readonly FieldError[] {
  const { rules = [], sideEffects, timeoutSeconds = 10, matchConditions = [] } = webhook
  return [
    ...nameErrors(webhook.name, path.field('name')),
    ...rules.flatMap((rule, index) => validateRule(rule, path.field('rules').index(index))),
    ...sideEffectsErrors(sideEffects, path.field('sideEffects')),
    ...(timeoutSeconds < 1 || timeoutSeconds > timeoutSecondsMax
      ? [
          invalidField(
            path.field('timeoutSeconds'),
            timeoutSeconds,
            'the timeout value must be between 1 and 30 seconds',
          ),
        ]
      : []),
    ...checkLabelSelector(webhook.namespaceSelector, path.field('namespaceSelector')),
    ...checkLabelSelector(webhook.objectSelector, path.field('objectSelector')),
    ...validateWebhookClientConfig(webhook.clientConfig, path.field('clientConfig')),
    ...validateMatchConditions(matchConditions, path.field('matchConditions')),
    ...reviewVersionErrors(webhook.admissionReviewVersions, path.field('admissionReviewVersions')),
  ]
}

function sideEffectsErrors(sideEffects: string | undefined, path: FieldPath): readonly FieldError[] {
  const known = ['None', 'NoneOnDryRun']
  if (sideEffects === undefined) return [requiredField(path, `must specify one of ${known.join(', ')}`)]
  return known.includes(sideEffects) ? [] : [unsupportedField(path, sideEffects, known)]
}

function nameErrors(name: string | undefined, path: FieldPath): readonly FieldError[] {
  if (name === undefined || name === '') return []
  const problems = checkFormat('dns1123-subdomain', name)
  if (problems.length > 0) return [invalidField(path, name, problems.join(','))]
  if (name.split('.').length >= 3) return []
  return [invalidField(path, name, 'should be a domain with at least three segments separated by dots')]
}

function reviewVersionErrors(versions: readonly string[], path: FieldPath): readonly FieldError[] {
  const known = admissionReviewVersions.join(', ')
  if (versions.length === 0) return [requiredField(path, `must specify one of ${known}`)]
  const repeated = repeatedAt(versions)
  const errors = versions.flatMap((version, index) => {
    if (repeated.has(index)) return [invalidField(path.index(index), version, 'duplicate version')]
    return checkFormat('dns1035-label', version).map((problem) => invalidField(path.index(index), version, problem))
  })
  if (versions.some((version) => admissionReviewVersions.includes(version))) return errors
  return [...errors, invalidField(path, versions, `must include at least one of ${known}`)]
}
