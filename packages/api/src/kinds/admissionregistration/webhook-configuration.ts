import type { KubernetesObject } from '../../meta.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'

type WithWebhooks = KubernetesObject & { readonly webhooks?: readonly unknown[] | undefined }

/** What both kinds of webhook configurations have in common. */
export const webhookConfigurationOptions = {
  namespaced: false,
  categories: ['api-extensions'],
  columns: [
    nameColumn,
    column('Webhooks', ({ webhooks = [] }: WithWebhooks) => webhooks.length, {
      type: 'integer',
      description: 'How many webhooks there are.',
    }),
    ageColumn,
  ],
  countsGenerations: true,
  rules: { updatesUnconditionally: false },
  finalizers: 'any',
} as const
