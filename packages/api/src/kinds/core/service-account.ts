import { kindSchema, type ObjectMeta } from '../../meta.ts'
import { atomicList, boolean, mapList, optional, pointer } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { kind } from '../kind.ts'
import { coreV1 } from '../meta/names.ts'
import { localObjectReference, objectReference } from './common.ts'

/** The identity that processes in pods have. */
export interface ServiceAccount extends Infer<typeof serviceAccountSchema> {}
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
    automountServiceAccountToken: pointer(
      boolean,
      'Whether pods get a token for this account as a file. They do unless this, or the pod, says no.',
    ),
  },
)

/** Only the names of secrets count: they are in the account's namespace. */
function withSecretNames(account: ServiceAccount): ServiceAccount {
  const { secrets } = account
  if (secrets === undefined || secrets.every((secret) => Object.keys(secret).every((key) => key === 'name'))) {
    return account
  }
  return { ...account, secrets: secrets.map(({ name }) => ({ name })) }
}

/** Once it kept pods from mounting other secrets than those of their account. */
const mountableSecretsMark = 'kubernetes.io/enforce-mountable-secrets'
const markWarning = `metadata.annotations[${mountableSecretsMark}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`

const hasMark = ({ annotations }: ObjectMeta): boolean => annotations?.[mountableSecretsMark] !== undefined

/** `v1` serviceaccounts. */
export const serviceAccounts = kind<ServiceAccount>(serviceAccountSchema, {
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  subresources: { token: { group: 'authentication.k8s.io', kind: 'TokenRequest', verbs: ['create'] } },
  rules: { returnsDeletedObject: true },
  prepareForCreate: withSecretNames,
  prepareForUpdate: withSecretNames,
  warnings: ({ metadata }, old) =>
    hasMark(metadata) && !(old !== undefined && hasMark(old.metadata)) ? [markWarning] : [],
})
