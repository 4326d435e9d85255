import type { PolicyRule } from '../kinds/rbac/role.ts'
import { matchesPath } from './rule-matching.ts'

/** What these rules grant and the others do not, as rules of one verb, group, resource and name, or one verb and path, each. */
export function uncoveredRules(rules: readonly PolicyRule[], others: readonly PolicyRule[]): readonly PolicyRule[] {
  return rules.flatMap(singleRules).filter((single) => !others.some((other) => covers(other, single)))
}

function singleRules(rule: PolicyRule): readonly PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }))
  return [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          names.map((name) => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...name })),
        ),
      ),
    ),
    ...nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ verbs: [verb], nonResourceURLs: [url] }))),
  ]
}

/** Whether a rule grants all that another grants. */
function covers(rule: PolicyRule, wanted: PolicyRule): boolean {
  const { resourceNames: names = [] } = rule
  const { resourceNames: wantedNames = [] } = wanted
  return (
    hasAll(rule.verbs, wanted.verbs) &&
    hasAll(rule.apiGroups, wanted.apiGroups) &&
    (wanted.resources ?? []).every((resource) => coversResource(rule.resources ?? [], resource)) &&
    (wanted.nonResourceURLs ?? []).every((url) => coversPath(rule.nonResourceURLs ?? [], url)) &&
    (names.length === 0 || (wantedNames.length > 0 && wantedNames.every((name) => names.includes(name))))
  )
}

const hasAll = (values: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  values.includes('*') || wanted.every((value) => values.includes(value))

/** Of all resources, of this one, or, for a subresource, of those of this name of all. */
function coversResource(resources: readonly string[], wanted: string): boolean {
  const [, subresource] = wanted.split('/', 2)
  return (
    resources.includes('*') ||
    resources.includes(wanted) ||
    (subresource !== undefined && resources.includes(`*/${subresource}`))
  )
}

const coversPath = (paths: readonly string[], wanted: string): boolean =>
  paths.some((path) => path === wanted || matchesPath(path, wanted))
