import { isJsonObject } from '@coracle/api'
import { type NamedObject, serviceAccountUser } from './token-claims.ts'

/** Who issues tokens that are kept in Secrets, as upstream has called it since before tokens had an end. */
export const secretTokenIssuer = 'kubernetes/serviceaccount'

/** Whose a token is that is kept in a Secret, and where. */
export interface SecretTokenSubject {
  readonly namespace: string
  readonly account: Required<NamedObject>
  /** Name of the Secret. */
  readonly secret: string
}

const prefix = 'kubernetes.io/serviceaccount/'

/** The claims as they are written into a token (upstream's LegacyClaims). It has no end, and does not say for whom it is. */
export function secretTokenPayload({
  namespace,
  account,
  secret,
}: SecretTokenSubject): Readonly<Record<string, string>> {
  return {
    iss: secretTokenIssuer,
    [`${prefix}namespace`]: namespace,
    [`${prefix}secret.name`]: secret,
    [`${prefix}service-account.name`]: account.name,
    [`${prefix}service-account.uid`]: account.uid,
    sub: serviceAccountUser(namespace, account.name),
  }
}

/** What a payload of ours says; undefined where it is none of a token that is kept in a Secret. */
export function parseSecretTokenClaims(payload: unknown): SecretTokenSubject | undefined {
  if (!isJsonObject(payload) || payload.iss !== secretTokenIssuer) return undefined
  const claim = (name: string): string => {
    const value = payload[prefix + name]
    return typeof value === 'string' ? value : ''
  }
  const subject = {
    namespace: claim('namespace'),
    account: { name: claim('service-account.name'), uid: claim('service-account.uid') },
    secret: claim('secret.name'),
  }
  const { namespace, account, secret } = subject
  const isWhole = [namespace, account.name, account.uid, secret].every((text) => text !== '')
  return isWhole && payload.sub === serviceAccountUser(namespace, account.name) ? subject : undefined
}
