import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { repeatedAt } from '../../finder.ts'
import { checkFormat } from '../../string-formats.ts'
import { validateWebhookClientConfig } from '../webhook-client-config.ts'
import { conversionReviewVersions } from './conversion-review-versions.ts'
import type { CustomResourceConversion } from './custom-resource-definition-schema.ts'

/** What is wrong with how versions are converted. */
export function validateConversion({ strategy, webhook }: CustomResourceConversion, path: FieldPath) {
  const errors: FieldError[] = []
  if (strategy === '') errors.push(requiredField(path.field('strategy')))
  else if (strategy !== 'None' && strategy !== 'Webhook') {
    errors.push(unsupportedField(path.field('strategy'), strategy, ['None', 'Webhook']))
  }
  // As upstream's own form of a definition has it, in which all errors of conversion are told.
  const clientPath = path.field('webhookClientConfig')
  const versionsPath = path.field('conversionReviewVersions')
  const versions = webhook?.conversionReviewVersions ?? []
  if (strategy !== 'Webhook') {
    const why = 'should not be set when strategy is not set to Webhook'
    if (webhook?.clientConfig !== undefined) errors.push(forbiddenField(clientPath, why))
    if (versions.length > 0) errors.push(forbiddenField(versionsPath, why))
    return errors
  }
  if (webhook?.clientConfig === undefined) {
    errors.push(requiredField(clientPath, 'required when strategy is set to Webhook'))
  } else errors.push(...validateWebhookClientConfig(webhook.clientConfig, clientPath))
  return [...errors, ...reviewVersionErrors(versions, versionsPath)]
}

function reviewVersionErrors(versions: readonly string[], path: FieldPath): readonly FieldError[] {
  if (versions.length === 0) return [requiredField(path)]
  const errors: FieldError[] = []
  const repeated = repeatedAt(versions)
  versions.forEach((version, index) => {
    if (repeated.has(index)) {
      errors.push(invalidField(path.index(index), version, 'duplicate version'))
      return
    }
    for (const problem of checkFormat('dns1035-label', version))
      errors.push(invalidField(path.index(index), version, problem))
  })
  if (!versions.some((version) => conversionReviewVersions.includes(version))) {
    errors.push(invalidField(path, versions, `must include at least one of ${conversionReviewVersions.join(', ')}`))
  }
  return errors
}
