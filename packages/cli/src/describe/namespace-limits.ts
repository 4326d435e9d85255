import {
  compareText,
  formatQuantity,
  type LimitRange,
  parseQuantity,
  quantityValue,
  type ResourceList,
  type ResourceQuota,
} from '@coracle/api'
import { Description } from './description.ts'

/** kubectl's explanations of scopes. */
const scopeTexts: Readonly<Record<string, string>> = {
  BestEffort:
    'Matches all pods that do not have resource requirements set. These pods have a best effort quality of service.',
  NotBestEffort:
    'Matches all pods that have at least one resource requirement set. These pods have a burstable or guaranteed quality of service.',
  NotTerminating:
    'Matches all pods that do not have an active deadline. These pods usually include long running pods whose container command is not expected to terminate.',
  Terminating:
    'Matches all pods that have an active deadline. These pods have a limited lifespan on a node before being actively terminated by the system.',
}

/** The quotas of a namespace, and how much of them is used (describe.go's DescribeResourceQuotas). */
export function describeQuotas(text: Description, quotas: readonly ResourceQuota[]): void {
  text.line(0, '')
  if (quotas.length === 0) {
    text.line(0, 'No resource quota.')
    return
  }
  text.line(0, 'Resource Quotas')
  for (const { metadata, spec, status } of sortedByName(quotas)) {
    text.field(1, 'Name', metadata.name ?? '')
    const scopes = [...(spec?.scopes ?? [])].sort(compareText)
    if (scopes.length > 0) {
      text.field(1, 'Scopes', scopes.join(', '))
      for (const scope of scopes) if (scopeTexts[scope] !== undefined) text.line(1, `* ${scopeTexts[scope]}`)
    }
    text.line(1, 'Resource\tUsed\tHard').line(1, '--------\t---\t---')
    for (const cells of usageRows(status)) text.line(1, cells.join('\t'))
  }
}

/** One quota in detail (describe.go's describeQuota). */
export function describeQuota({ metadata, spec, status }: ResourceQuota): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  const scopes = [...(spec?.scopes ?? [])].sort(compareText)
  if (scopes.length > 0) text.field(0, 'Scopes', scopes.join(', '))
  for (const scope of scopes) if (scopeTexts[scope] !== undefined) text.line(0, ` * ${scopeTexts[scope]}`)
  text.line(0, 'Resource\tUsed\tHard').line(0, '--------\t----\t----')
  for (const [resource = '', used = '0', hard = '0'] of usageRows(status)) {
    text.line(0, [resource, inFormatOf(hard, used), hard].join('\t'))
  }
  return text.toString()
}

/** An amount with suffixes of the family that another is written with; where its own are others, in whole units. */
function inFormatOf(other: string, amount: string): string {
  const { format } = parseQuantity(other)
  const quantity = parseQuantity(amount)
  if (quantity.format === format) return amount
  return formatQuantity({ nanos: BigInt(quantityValue(quantity)) * 1_000_000_000n, format })
}

function usageRows(status: ResourceQuota['status']): readonly (readonly string[])[] {
  return Object.entries(status?.hard ?? {})
    .sort(([a], [b]) => compareText(a, b))
    .map(([resource, hard]) => [resource, status?.used?.[resource] ?? '0', hard])
}

/** One limit range in detail (describe.go's describeLimitRange). */
export function describeLimitRange(range: LimitRange): string {
  const { metadata } = range
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  for (const line of limitHeaders) text.line(0, line)
  for (const cells of limitRows(range)) text.line(0, cells.join('\t'))
  return text.toString()
}

const limitHeaders = [
  'Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio',
  '----\t--------\t---\t---\t---------------\t-------------\t-----------------------',
]

function limitRows({ spec }: LimitRange): readonly (readonly string[])[] {
  return (spec?.limits ?? []).flatMap(({ type, min, max, defaultRequest, default: limit, maxLimitRequestRatio }) => {
    const lists: readonly (ResourceList | undefined)[] = [min, max, defaultRequest, limit, maxLimitRequestRatio]
    const resources = new Set(lists.flatMap((list) => Object.keys(list ?? {})))
    return [...resources].sort(compareText).map((name) => [type, name, ...lists.map((list) => list?.[name] ?? '-')])
  })
}

/** What pods and their containers may have in a namespace (describe.go's DescribeLimitRanges). */
export function describeLimitRanges(text: Description, limitRanges: readonly LimitRange[]): void {
  text.line(0, '')
  if (limitRanges.length === 0) {
    text.line(0, 'No LimitRange resource.')
    return
  }
  text.line(0, 'Resource Limits')
  for (const line of limitHeaders) text.line(0, ` ${line}`)
  for (const range of limitRanges) for (const cells of limitRows(range)) text.line(0, ` ${cells.join('\t')}`)
}

function sortedByName(quotas: readonly ResourceQuota[]): readonly ResourceQuota[] {
  return [...quotas].sort((a, b) => compareText(a.metadata.name ?? '', b.metadata.name ?? ''))
}
