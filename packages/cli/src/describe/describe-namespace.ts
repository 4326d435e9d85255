import type { LimitRange, Namespace, ResourceQuota } from '@coracle/api'
import { Description } from './description.ts'
import { formatLocalTime, zeroTime } from './local-time.ts'
import { describeIdentity } from './metadata.ts'
import { describeLimitRanges, describeQuotas } from './namespace-limits.ts'

/** What limits the objects of a namespace; a list is undefined where it may not be read. */
export interface NamespaceLimits {
  readonly quotas: readonly ResourceQuota[] | undefined
  readonly limitRanges: readonly LimitRange[] | undefined
}

/** A namespace in detail. */
export function describeNamespace({ metadata, status }: Namespace, { quotas, limitRanges }: NamespaceLimits): string {
  const text = new Description()
  describeIdentity(text, metadata)
  text.field(0, 'Status', status?.phase ?? '')
  const conditions = status?.conditions ?? []
  if (conditions.length > 0) {
    const rows = conditions.map((each) => [
      each.type,
      each.status,
      formatLocalTime(each.lastTransitionTime ?? zeroTime),
      each.reason ?? '',
      each.message ?? '',
    ])
    text.table(0, 'Conditions', ['Type', 'Status', 'LastTransitionTime', 'Reason', 'Message'], rows)
  }
  if (quotas !== undefined) describeQuotas(text, quotas)
  if (limitRanges !== undefined) describeLimitRanges(text, limitRanges)
  return text.toString()
}
