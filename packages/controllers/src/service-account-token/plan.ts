import { type Secret, type ServiceAccount, secrets, serviceAccounts } from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'

/** The type of Secrets that keep a token of an account. */
export const tokenSecretType = 'kubernetes.io/service-account-token'

/** The account, by its name and identity, that a Secret is to have a token of. */
export const accountNameAnnotation = 'kubernetes.io/service-account.name'
export const accountUidAnnotation = 'kubernetes.io/service-account.uid'

/** The account that a Secret is about; empty where it does not say. */
export const accountNameOf = ({ metadata }: Secret): string => metadata.annotations?.[accountNameAnnotation] ?? ''

/** Whether this is the account that a Secret is about, and not another that has its name now. */
export function isOfAccount({ metadata }: Secret, account: ServiceAccount): boolean {
  const uid = metadata.annotations?.[accountUidAnnotation] ?? ''
  return uid === '' || uid === account.metadata.uid
}

/** Whether a Secret has yet to get its token. */
export const needsToken = ({ data }: Secret): boolean => (data?.token ?? '') === ''

export interface TokenParts {
  /** The certificate authority of the API server, as PEM. */
  readonly rootCertificate: string | undefined
  /** A token of the account, for a Secret that needs one. */
  readonly token?: string | undefined
}

/** Gives a Secret all that it keeps of its account, or removes it where there is no such account any more. Pure. */
export function planTokenSecret(
  secret: Secret,
  account: ServiceAccount | undefined,
  { rootCertificate, token }: TokenParts,
): Plan<never> {
  const { namespace = '', name = '', uid, annotations } = secret.metadata
  if (account === undefined) {
    const identity = uid === undefined ? {} : { uid }
    const because = `there is no serviceaccount/${accountNameOf(secret)} whose token it keeps`
    return { actions: [{ type: 'delete', resource: secrets, key: { namespace, name }, ...identity, because }] }
  }
  const { data = {} } = secret
  const missing = {
    ...(rootCertificate === undefined || data['ca.crt'] === base64(rootCertificate)
      ? {}
      : { 'ca.crt': base64(rootCertificate) }),
    ...((data.namespace ?? '') === '' ? { namespace: base64(namespace) } : {}),
    ...(needsToken(secret) && token !== undefined ? { token: base64(token) } : {}),
  }
  if (Object.keys(missing).length === 0) return { actions: [] }
  const owner = {
    [accountNameAnnotation]: account.metadata.name ?? '',
    [accountUidAnnotation]: account.metadata.uid ?? '',
  }
  const object: Secret = {
    ...secret,
    metadata: { ...secret.metadata, annotations: { ...annotations, ...owner } },
    data: { ...data, ...missing },
  }
  return { actions: [{ type: 'update', resource: secrets, object, because: 'it asks for a token of its account' }] }
}

/** Takes a Secret that is gone out of those that an account names. Pure. */
export function planForgottenSecret(account: ServiceAccount, secretName: string): Plan<never> {
  const object: ServiceAccount = {
    ...account,
    secrets: (account.secrets ?? []).filter(({ name }) => name !== secretName),
  }
  return { actions: [{ type: 'update', resource: serviceAccounts, object, because: `secret/${secretName} is gone` }] }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
