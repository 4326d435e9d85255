import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { checkFormat } from '../../string-formats.ts'
import { validateWebhookClientConfig } from '../webhook-client-config.ts'
import type { CustomResourceConversion } from './custom-resource-definition-schema.ts'

/** Versions of ConversionReview that this server speaks, the best first. */
export const conversionReviewVersions: readonly string[] = ['v1', 'v1beta1']

/** What is wrong with how versions are converted. */
export function validateConversion({ strategy, webhook }: CustomResourceConversion, path: FieldPath) {
  const errors: FieldError[] = []
  if (strategy !== '' && strategy !== 'None' && strategy !== 'Webhook') {
    errors.push(unsupportedField(path.field('strategy'), strategy, ['None', 'Webhook']))
  }
  const webhookPath = path.field('webhook')
  if (strategy !== 'Webhook') {
    if (webhook !== undefined) {
      errors.push(forbiddenField(webhookPath, 'should not be set when strategy is not set to Webhook'))
    }
    return errors
  }
  const clientPath = webhookPath.field('clientConfig')
  if (webhook?.clientConfig === undefined) {
    errors.push(requiredField(clientPath, 'required when strategy is set to Webhook'))
  } else errors.push(...validateWebhookClientConfig(webhook.clientConfig, clientPath))
  const versions = webhook?.conversionReviewVersions ?? []
  return [...errors, ...reviewVersionErrors(versions, webhookPath.field('conversionReviewVersions'))]
}

function reviewVersionErrors(versions: readonly string[], path: FieldPath): readonly FieldError[] {
  // That the list is required the schema says.
  if (versions.length === 0) return []
  const errors: FieldError[] = []
  versions.forEach((version, index) => {
    if (versions.indexOf(version) < index) errors.push(invalidField(path.index(index), version, 'duplicate version'))
    const problems = checkFormat('dns1035-label', version)
    if (problems.length > 0) errors.push(invalidField(path.index(index), version, problems.join(',')))
  })
  if (!versions.some((version) => conversionReviewVersions.includes(version))) {
    errors.push(invalidField(path, versions, `must include at least one of ${conversionReviewVersions.join(', ')}`))
  }
  return errors
}
