import { trimRight } from '../go-text.ts'
import type { PolicyRule } from '../kinds/rbac/role.ts'

/** A request for a resource, as rules see it. */
export interface ResourceAccess {
  readonly verb: string
  readonly group: string
  readonly plural: string
  readonly subresource: string
  /** Empty where the request names no object. */
  readonly name: string
}

/** Whether a rule allows a request for a resource (pkg/apis/rbac/v1's evaluation helpers). */
export function ruleAllowsResource(
  rule: PolicyRule,
  { verb, group, plural, subresource, name }: ResourceAccess,
): boolean {
  const { apiGroups = [], resources = [], resourceNames = [] } = rule
  return (
    hasOrAll(rule.verbs, verb) &&
    hasOrAll(apiGroups, group) &&
    (hasOrAll(resources, subresource === '' ? plural : `${plural}/${subresource}`) ||
      (subresource !== '' && resources.includes(`*/${subresource}`))) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  )
}

/** Whether a rule allows a request for a path outside the API's resources. */
export function ruleAllowsPath(rule: PolicyRule, verb: string, path: string): boolean {
  const { nonResourceURLs = [] } = rule
  return hasOrAll(rule.verbs, verb) && nonResourceURLs.some((pattern) => pattern === path || matchesPath(pattern, path))
}

/** Whether a pattern with a trailing `*` matches a path; one without matches nothing. */
export const matchesPath = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') && path.startsWith(trimRight(pattern, '*'))

const hasOrAll = (values: readonly string[], value: string): boolean => values.includes(value) || values.includes('*')
