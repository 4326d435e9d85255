import { type KubernetesObject, kindSchema } from '../../meta.ts'
import type { ResourceDefinition } from '../../resource.ts'
import { atomicList, boolean, mapList, optional } from '../../schema/builders.ts'
import type { ObjectSchema } from '../../schema/schema.ts'
import { ageColumn, nameColumn } from '../columns.ts'
import { coreV1 } from '../meta/names.ts'
import { checkFinalizers } from '../validation.ts'
import { allVerbs } from '../verbs.ts'
import { type LocalObjectReference, localObjectReference, type ObjectReference, objectReference } from './common.ts'

/** The identity that processes in pods have. */
export interface ServiceAccount extends KubernetesObject {
  readonly secrets?: readonly ObjectReference[] | undefined
  readonly imagePullSecrets?: readonly LocalObjectReference[] | undefined
  readonly automountServiceAccountToken?: boolean | undefined
}

export const serviceAccountSchema = kindSchema(
  `${coreV1}.ServiceAccount`,
  'The identity that processes in pods have when they talk to the API.',
  {
    secrets: optional(
      mapList(objectReference, ['name'], { duplicates: 'allowed' }),
      'Secrets that pods of this account may mount, where the account restricts them. Only their names are kept.',
    ),
    imagePullSecrets: optional(
      atomicList(localObjectReference),
      'Secrets with which images are pulled for pods that run as this account and name none themselves.',
    ),
    automountServiceAccountToken: optional(
      boolean,
      'Whether pods get a token for this account as a file. They do unless this, or the pod, says no.',
    ),
  },
) as ObjectSchema<ServiceAccount>

/** Only the names of secrets count: they are in the account's namespace. */
function withSecretNames(account: ServiceAccount): ServiceAccount {
  const { secrets } = account
  if (secrets === undefined || secrets.every((secret) => Object.keys(secret).every((key) => key === 'name'))) {
    return account
  }
  return { ...account, secrets: secrets.map(({ name }) => ({ name })) }
}

/** `v1` serviceaccounts. */
export const serviceAccounts: ResourceDefinition<ServiceAccount> = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  listKind: 'ServiceAccountList',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  categories: [],
  namespaced: true,
  verbs: allVerbs,
  schema: serviceAccountSchema,
  hasStatus: false,
  subresources: {},
  nameFormat: 'dns1123-subdomain',
  columns: [nameColumn, ageColumn],
  selectableFields: {},
  strategy: {
    validate: ({ metadata }) => checkFinalizers(metadata),
    prepareForCreate: withSecretNames,
    prepareForUpdate: withSecretNames,
  },
}
