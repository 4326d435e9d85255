import {
  beginOfDay,
  type ConfigMap,
  dayMs,
  dayOf,
  parseTime,
  type Secret,
  type ServiceAccount,
  secrets,
  tokenInvalidSinceLabel,
  tokenLastUsedLabel,
  tokenTracking,
} from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { accountNameOf, isOfAccount, tokenSecretType } from '../service-account-token/plan.ts'

/** How long nobody has to use a token before it is refused, and how long it is refused before it goes (upstream's default). */
export const unusedMs = 365 * dayMs

/** What a cleaner of tokens goes by. */
export interface Observed {
  /** Where it is said since when uses of tokens are noted. */
  readonly tracking: ConfigMap | undefined
  readonly secrets: readonly Secret[]
  /** The account of this name, if there is one. */
  readonly accountNamed: (namespace: string, name: string) => ServiceAccount | undefined
  /** The secrets that pods of a namespace name. */
  readonly namedByPods: (namespace: string) => ReadonlySet<string>
}

/**
 * Has tokens refused that were made by themselves and that nobody has used for a year, and removes those that have been refused for as
 * long. Nothing before uses have been noted for that time. Pure.
 */
export function planTokenCleanup(observed: Observed, nowMs: number): readonly Action[] {
  const since = beginOfDay(observed.tracking?.data?.[tokenTracking.key] ?? '')
  // The first whole day of which it is known who used what is the one after.
  if (since === undefined || nowMs < since + dayMs + unusedMs) return []
  return observed.secrets.flatMap((secret) => {
    return isUnused(secret, nowMs) && isLeftOver(secret, observed) ? planUnused(secret, nowMs) : []
  })
}

/** Whether a Secret is old, and its token was not used lately. One whose label tells no day may have been. */
function isUnused({ type, metadata }: Secret, nowMs: number): boolean {
  const { creationTimestamp = '', deletionTimestamp, labels = {} } = metadata
  if (type !== tokenSecretType || deletionTimestamp !== undefined) return false
  if (parseTime(creationTimestamp) >= nowMs - unusedMs) return false
  const lastUsed = labels[tokenLastUsedLabel]
  return lastUsed === undefined || (beginOfDay(lastUsed) !== undefined && lastUsed < dayOf(nowMs - unusedMs))
}

/** Whether a Secret was made for its account, which names it then, and no pod needs it. */
function isLeftOver(secret: Secret, { accountNamed, namedByPods }: Observed): boolean {
  const { namespace = '', name = '' } = secret.metadata
  const accountName = accountNameOf(secret)
  const account = accountName === '' ? undefined : accountNamed(namespace, accountName)
  if (account === undefined || !isOfAccount(secret, account)) return false
  return account.secrets?.some((each) => each.name === name) === true && !namedByPods(namespace).has(name)
}

function planUnused({ metadata }: Secret, nowMs: number): readonly Action[] {
  const { namespace = '', name = '', uid, resourceVersion, labels = {} } = metadata
  const identity = uid === undefined ? {} : { uid }
  const invalidSince = labels[tokenInvalidSinceLabel] ?? ''
  const about = { resource: secrets, key: { namespace, name } } as const
  if (beginOfDay(invalidSince) === undefined) {
    const body = { metadata: { ...identity, labels: { [tokenInvalidSinceLabel]: dayOf(nowMs) } } }
    return [
      { type: 'patch', ...about, patch: { type: 'merge', body }, because: 'nobody has used its token for a year' },
    ]
  }
  if (invalidSince >= dayOf(nowMs - unusedMs)) return []
  const version = resourceVersion === undefined ? {} : { resourceVersion }
  return [
    { type: 'delete', ...about, ...identity, ...version, because: `its token has been refused since ${invalidSince}` },
  ]
}
