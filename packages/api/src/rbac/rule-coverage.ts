import type { PolicyRule } from '../kinds/rbac/role.ts'
import { matchesPath } from './rule-matching.ts'

/**
 * What these rules grant and the others do not, as rules of one verb, group, resource and name, or one verb and path, each: the first `max` of
 * them. Of a thousand verbs, resources and names each there are a thousand million, which are only told apart where the others do so.
 */
export function uncoveredRules(
  rules: readonly PolicyRule[],
  others: readonly PolicyRule[],
  max = Number.POSITIVE_INFINITY,
): readonly PolicyRule[] {
  const found: PolicyRule[] = []
  for (const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    const ofResources = { apiGroups, resources, verbs, ...(resourceNames.length === 0 ? {} : { resourceNames }) }
    for (const each of [ofResources, { nonResourceURLs, verbs }]) {
      const own: PolicyRule[] = []
      collectUncovered(each, others, own, max - found.length)
      for (const single of inOrderOf(each, own)) found.push(single)
    }
  }
  return found
}

/** What a rule is about, in the order in which it is told. */
const parts = ['apiGroups', 'resources', 'nonResourceURLs', 'verbs', 'resourceNames'] as const
type Part = (typeof parts)[number]

/** A rule that no other covers as a whole is looked at in two halves, down to what cannot be divided. */
function collectUncovered(rule: PolicyRule, others: readonly PolicyRule[], found: PolicyRule[], max: number): void {
  const isAboutNothing = parts.some((part) => rule[part]?.length === 0)
  if (isAboutNothing || found.length >= max || others.some((other) => covers(other, rule))) return
  const part = partToDivide(rule, others)
  if (part === undefined) {
    found.push(rule)
    return
  }
  const values = rule[part] ?? []
  const half = values.length >> 1
  for (const each of [values.slice(0, half), values.slice(half)])
    collectUncovered({ ...rule, [part]: each }, others, found, max)
}

/** The part in which an other covers some of the rule and not the rest, if there is such a part; undefined where there is one of each. */
function partToDivide(rule: PolicyRule, others: readonly PolicyRule[]): Part | undefined {
  const divisible = parts.filter((part) => (rule[part]?.length ?? 0) > 1)
  if (divisible.length < 2) return divisible[0]
  const isCoveredBut = (part: Part): boolean => {
    const [first, last] = [rule[part]?.slice(0, 1), rule[part]?.slice(-1)]
    return others.some((other) => covers(other, { ...rule, [part]: first }) || covers(other, { ...rule, [part]: last }))
  }
  return divisible.find(isCoveredBut) ?? divisible[0]
}

/** Rules that a rule was divided into, in the order of its own values. */
function inOrderOf(rule: PolicyRule, singles: readonly PolicyRule[]): readonly PolicyRule[] {
  if (singles.length < 2) return singles
  const places = parts.map((part) => new Map(rule[part]?.map((value, index) => [value, index])))
  const placed = singles.map((single) => ({
    single,
    at: parts.map((part, index) => places[index]?.get(single[part]?.[0] ?? '') ?? 0),
  }))
  const compare = (a: readonly number[], b: readonly number[]): number =>
    a.map((each, index) => each - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0
  return placed.sort((a, b) => compare(a.at, b.at)).map(({ single }) => single)
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
