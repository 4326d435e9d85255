import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { checkFormat } from '../../string-formats.ts'
import type { ConversionClientConfig, CustomResourceConversion } from './custom-resource-definition-schema.ts'

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
  } else errors.push(...clientErrors(webhook.clientConfig, clientPath))
  const versions = webhook?.conversionReviewVersions ?? []
  return [...errors, ...reviewVersionErrors(versions, webhookPath.field('conversionReviewVersions'))]
}

function clientErrors({ url, service }: ConversionClientConfig, path: FieldPath): readonly FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [requiredField(path, 'exactly one of url or service is required')]
  }
  if (url !== undefined) return urlErrors(url, path.field('url'))
  const { name = '', namespace = '', port = 443, path: route = '/' } = service ?? {}
  const at = path.field('service')
  return [
    ...(name === '' ? [requiredField(at.field('name'), 'service name is required')] : []),
    ...(namespace === '' ? [requiredField(at.field('namespace'), 'service namespace is required')] : []),
    ...(port < 1 || port > 65535
      ? [invalidField(at.field('port'), port, 'port is not valid: must be between 1 and 65535, inclusive')]
      : []),
    ...(route.startsWith('/') ? [] : [invalidField(at.field('path'), route, "must start with a '/'")]),
  ]
}

const urlForm = '; desired format: https://host[/path]'

function urlErrors(text: string, path: FieldPath): readonly FieldError[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return [requiredField(path, `url must be a valid URL${urlForm}`)]
  const refuse = (shown: string, detail: string) => [invalidField(path, shown, detail + urlForm)]
  return [
    ...(url.protocol === 'https:' ? [] : refuse(url.protocol.slice(0, -1), "'https' is the only allowed URL scheme")),
    ...(url.host === '' ? refuse(url.host, 'host must be specified') : []),
    ...(url.username === '' && url.password === ''
      ? []
      : refuse(url.username, 'user information is not permitted in the URL')),
    ...(url.hash === '' ? [] : refuse(url.hash.slice(1), 'fragments are not permitted in the URL')),
    ...(url.search === '' ? [] : refuse(url.search.slice(1), 'query parameters are not permitted in the URL')),
  ]
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
