import { hasReason, type Secret, type ServiceAccount, secrets, serviceAccounts } from '@coracle/api'
import { keyText } from '@coracle/client'
import {
  type Controller,
  controller,
  type Lookup,
  performPlan,
  type ReconcileContext,
} from '@coracle/controller-runtime'
import {
  accountNameOf,
  isOfAccount,
  needsToken,
  planForgottenSecret,
  planTokenSecret,
  tokenSecretType,
} from './plan.ts'

/** Whose a token is to be, and in which Secret. */
export interface WantedToken {
  readonly namespace: string
  readonly account: { readonly name: string; readonly uid: string }
  /** Name of the Secret. */
  readonly secret: string
}

export interface ServiceAccountTokenControllerOptions {
  /** The certificate authority of the API server, as PEM; without one Secrets keep none. */
  readonly rootCertificate?: string | undefined
  /** Makes a token without an end, for a Secret to keep; without it Secrets get none. */
  readonly issueToken?: ((wanted: WantedToken) => Promise<string>) | undefined
}

const secretsByAccount = 'secretsByAccount'
const accountKeysOf = (secret: Secret): readonly string[] => [keyText(secret.metadata.namespace, accountNameOf(secret))]

/** Fills Secrets that ask for a token of a service account, and removes them with it. */
export function createServiceAccountTokenController(options: ServiceAccountTokenControllerOptions): Controller {
  const { rootCertificate, issueToken } = options
  return controller('serviceaccount-token-controller', { component: 'serviceaccount-token-controller' })
    .for(secrets, { fieldSelector: `type=${tokenSecretType}`, indexes: { [secretsByAccount]: accountKeysOf } })
    .watches(serviceAccounts, secretsOfAccount)
    .reconcile(async ({ object: secret, namespace = '', name }, context) => {
      if (secret === undefined) return forgetSecret(context, namespace, name)
      if (secret.metadata.deletionTimestamp !== undefined || issueToken === undefined) return undefined
      const account = await accountOf(secret, context)
      const { name: accountName = '', uid = '' } = account?.metadata ?? {}
      const token =
        account !== undefined && needsToken(secret)
          ? await issueToken({ namespace, account: { name: accountName, uid }, secret: name })
          : undefined
      return performPlan(context, secret, planTokenSecret(secret, account, { rootCertificate, token }))
    })
}

function secretsOfAccount({ metadata }: ServiceAccount, lookup: Lookup): readonly string[] {
  const key = keyText(metadata.namespace, metadata.name ?? '')
  return lookup
    .informer(secrets)
    .byIndex(secretsByAccount, key)
    .map((secret) => keyText(secret.metadata.namespace, secret.metadata.name ?? ''))
}

/** The account that a Secret is about. The cache may be older than one that was made just before its Secret. */
async function accountOf(secret: Secret, context: ReconcileContext<Secret>): Promise<ServiceAccount | undefined> {
  const { namespace } = secret.metadata
  const name = accountNameOf(secret)
  const known = context.informer(serviceAccounts).get(keyText(namespace, name))
  if (known !== undefined && isOfAccount(secret, known)) return known
  try {
    const found = await context.client.get(serviceAccounts, { ...(namespace === undefined ? {} : { namespace }), name })
    return isOfAccount(secret, found) ? found : undefined
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

async function forgetSecret(context: ReconcileContext<Secret>, namespace: string, name: string): Promise<undefined> {
  const naming = context
    .informer(serviceAccounts)
    .list(namespace)
    .filter(({ secrets: named = [] }) => named.some((each) => each.name === name))
  for (const account of naming) await performPlan(context, account, planForgottenSecret(account, name))
}
