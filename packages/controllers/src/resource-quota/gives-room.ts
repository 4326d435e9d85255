import { compareQuantity, type ResourceQuota } from '@coracle/api'
import type { Change } from '@coracle/controller-runtime'

/** Whether a change of a quota leaves room for what it has refused: less is used, more is allowed, or it is gone. */
export function givesRoom(change: Change<ResourceQuota>): boolean {
  if (change.type !== 'update') return change.type === 'delete'
  const [old, now] = [change.old.status ?? {}, change.object.status ?? {}]
  return hasLess(now.used ?? {}, old.used ?? {}) || hasLess(old.hard ?? {}, now.hard ?? {})
}

type Amounts = Readonly<Record<string, string>>

/** Whether there is less of anything in `amounts` than in `others`, that both know. */
const hasLess = (amounts: Amounts, others: Amounts): boolean =>
  Object.entries(amounts).some(([resource, amount]) => {
    const other = others[resource]
    return other !== undefined && compareQuantity(amount, other) < 0
  })
