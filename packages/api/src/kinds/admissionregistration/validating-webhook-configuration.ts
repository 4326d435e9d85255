import { kindSchema } from '../../meta.ts'
import { mapList, optional } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { kind } from '../kind.ts'
import { admissionChecks } from './admission-checks.ts'
import { admissionregistrationV1 } from './names.ts'
import { webhookConfigurationOptions } from './webhook-configuration.ts'
import { validatingWebhook } from './webhook-schema.ts'

/** Webhooks that judge what is written. */
export interface ValidatingWebhookConfiguration extends Infer<typeof validatingWebhookConfigurationSchema> {}
export const validatingWebhookConfigurationSchema = kindSchema(
  `${admissionregistrationV1}.ValidatingWebhookConfiguration`,
  'Webhooks that may refuse what is written. They are asked all at once, after everything that changes it.',
  { webhooks: optional(mapList(validatingWebhook, ['name']), 'The webhooks.') },
)

/** `admissionregistration.k8s.io/v1` validatingwebhookconfigurations. */
export const validatingWebhookConfigurations = kind<ValidatingWebhookConfiguration>(
  validatingWebhookConfigurationSchema,
  {
    plural: 'validatingwebhookconfigurations',
    ...webhookConfigurationOptions,
    load: admissionChecks.load,
    validate: ({ webhooks = [] }) => admissionChecks.get().validateValidatingWebhooks(webhooks),
    warnings: (object) => admissionChecks.get().staticNameWarnings(object),
  },
)
