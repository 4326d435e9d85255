import { bootstrapTokenOf, hasExpired, type Secret, secrets } from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'

/** Deletes the Secret of a bootstrap token that is over, or looks again when it will be. Pure. */
export function planTokenEnd(secret: Secret, nowMs: Time): Plan<never> {
  const token = bootstrapTokenOf(secret)
  if (token?.expiresAtMs === undefined || secret.metadata.deletionTimestamp !== undefined) return { actions: [] }
  if (!hasExpired(token, nowMs)) return { actions: [], requeueAfterMs: token.expiresAtMs - nowMs }
  const { namespace = '', name = '', uid } = secret.metadata
  const identity = uid === undefined ? {} : { uid }
  const because = 'the bootstrap token has expired'
  return { actions: [{ type: 'delete', resource: secrets, key: { namespace, name }, ...identity, because }] }
}
