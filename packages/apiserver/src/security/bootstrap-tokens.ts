import { createHash, timingSafeEqual } from 'node:crypto'
import {
  bootstrappersGroup,
  bootstrapTokenNamespace,
  bootstrapTokenOf,
  bootstrapTokenPrefix,
  bootstrapUserPrefix,
  hasExpired,
  parseBootstrapToken,
  secrets,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import { storedObject } from '../admission/stored-objects.ts'
import type { Registries } from '../registries.ts'
import type { User } from '../request.ts'

/** Who shows a token that is a Secret of kube-system; undefined where it is none, or no good any more. */
export type BootstrapTokens = (token: string) => User | undefined

/**
 * Authentication by bootstrap tokens (upstream's plugin/pkg/auth/authenticator/token/bootstrap): `system:bootstrap:ID`, in
 * `system:bootstrappers` and the groups that the Secret names.
 */
export function createBootstrapTokens(registries: Registries, clock: Clock): BootstrapTokens {
  return (text) => {
    const parts = parseBootstrapToken(text)
    if (parts === undefined) return undefined
    const secret = storedObject(registries, secrets, `${bootstrapTokenPrefix}${parts.id}`, bootstrapTokenNamespace)
    if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return undefined
    const token = bootstrapTokenOf(secret)
    if (token === undefined || !isSame(token.secret, parts.secret) || !token.authenticates) return undefined
    if (token.extraGroups === undefined || hasExpired(token, clock.now())) return undefined
    return { name: `${bootstrapUserPrefix}${token.id}`, groups: [bootstrappersGroup, ...token.extraGroups] }
  }
}

/** In constant time: how long it takes tells nothing about the token. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
