import type { AdmissionRule } from '@coracle/api'

/** What of a request rules look at. */
export interface RuleSubject {
  readonly operation: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  /** Whether the resource lives in namespaces. */
  readonly namespaced: boolean
}

/** Whether a rule matches a request (upstream's predicates/rules). What is absent from a rule matches nothing. */
export function ruleMatches(rule: AdmissionRule, subject: RuleSubject): boolean {
  return (
    scopeMatches(rule.scope, subject.namespaced) &&
    includes(rule.operations, subject.operation) &&
    includes(rule.apiGroups, subject.group) &&
    includes(rule.apiVersions, subject.version) &&
    (rule.resources ?? []).some((each) => resourceMatches(each, subject))
  )
}

function scopeMatches(scope: string | undefined, namespaced: boolean): boolean {
  if (scope === undefined || scope === '*') return true
  return scope === (namespaced ? 'Namespaced' : 'Cluster')
}

const includes = (list: readonly string[] = [], value: string): boolean => list.includes('*') || list.includes(value)

// `pods` is pods alone, `pods/log` and `pods/*` are subresources, `*` is all resources alone, and `*/*` everything.
function resourceMatches(text: string, { resource, subresource }: RuleSubject): boolean {
  const slash = text.indexOf('/')
  const wanted = slash < 0 ? text : text.slice(0, slash)
  const part = slash < 0 ? '' : text.slice(slash + 1)
  return (wanted === '*' || wanted === resource) && (part === '*' || part === subresource)
}
