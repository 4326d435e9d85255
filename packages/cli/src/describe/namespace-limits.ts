import { compareText, type LimitRange, type ResourceList, type ResourceQuota } from '@coracle/api'
import type { Description } from './description.ts'

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
    for (const [resource, hard] of Object.entries(status?.hard ?? {}).sort(([a], [b]) => compareText(a, b))) {
      text.line(1, [resource, status?.used?.[resource] ?? '0', hard].join('\t'))
    }
  }
}

/** What pods and their containers may have in a namespace (describe.go's DescribeLimitRanges). */
export function describeLimitRanges(text: Description, limitRanges: readonly LimitRange[]): void {
  text.line(0, '')
  if (limitRanges.length === 0) {
    text.line(0, 'No LimitRange resource.')
    return
  }
  text.line(0, 'Resource Limits')
  text.line(0, ' Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio')
  text.line(0, ' ----\t--------\t---\t---\t---------------\t-------------\t-----------------------')
  for (const { spec } of limitRanges) {
    for (const { type, min, max, defaultRequest, default: limit, maxLimitRequestRatio } of spec?.limits ?? []) {
      const lists: readonly (ResourceList | undefined)[] = [min, max, defaultRequest, limit, maxLimitRequestRatio]
      const resources = new Set(lists.flatMap((list) => Object.keys(list ?? {})))
      for (const resource of [...resources].sort(compareText)) {
        text.line(0, ` ${[type, resource, ...lists.map((list) => list?.[resource] ?? '-')].join('\t')}`)
      }
    }
  }
}

function sortedByName(quotas: readonly ResourceQuota[]): readonly ResourceQuota[] {
  return [...quotas].sort((a, b) => compareText(a.metadata.name ?? '', b.metadata.name ?? ''))
}
