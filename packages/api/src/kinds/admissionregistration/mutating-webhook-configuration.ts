import { kindSchema } from '../../meta.ts'
import { mapList, optional } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { kind } from '../kind.ts'
import { admissionChecks } from './admission-checks.ts'
import { admissionregistrationV1 } from './names.ts'
import { webhookConfigurationOptions } from './webhook-configuration.ts'
import { mutatingWebhook } from './webhook-schema.ts'

/** Webhooks that change what is written. */
export interface MutatingWebhookConfiguration extends Infer<typeof mutatingWebhookConfigurationSchema> {}
export const mutatingWebhookConfigurationSchema = kindSchema(
  `${admissionregistrationV1}.MutatingWebhookConfiguration`,
  'Webhooks that may change what is written, and refuse it. They are asked one after the other.',
  { webhooks: optional(mapList(mutatingWebhook, ['name']), 'The webhooks, in the order in which they are asked.') },
)

/** `admissionregistration.k8s.io/v1` mutatingwebhookconfigurations. */
export const mutatingWebhookConfigurations = kind<MutatingWebhookConfiguration>(mutatingWebhookConfigurationSchema, {
  plural: 'mutatingwebhookconfigurations',
  ...webhookConfigurationOptions,
  load: admissionChecks.load,
  validate: ({ webhooks = [] }) => admissionChecks.get().validateMutatingWebhooks(webhooks),
  warnings: (object) => admissionChecks.get().staticNameWarnings(object),
})
