/** Label selectors: what they are and what they select. Semantics and wording are those of apimachinery's labels package. */
import { compareText } from './compare-text.ts'
import type { FieldPath } from './field-path.ts'
import { int64Of } from './go-text.ts'
import { parseRequirements } from './label-selector-parser.ts'
import { expressionOperators } from './selector-operators.ts'
import { badRequest } from './status.ts'

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<'

/** One condition on labels. `values` are without duplicates; what they mean depends on the operator. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
}

export type Labels = Readonly<Record<string, string>>

/** A label selector, ready to match. All requirements must hold. */
export interface LabelSelectorMatcher {
  /** In the order of their keys. */
  readonly requirements: readonly LabelRequirement[]
  /** Selects nothing whatever the labels: what an absent selector means. */
  readonly nothing: boolean
  /** Whether labels (absent ones are none) are selected. */
  matches(labels: Labels | undefined): boolean
  /** As in query strings: `app=web,tier in (back,front),!legacy`. Empty for everything and for nothing. */
  toString(): string
}

/** The LabelSelector of meta/v1, as objects carry it. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels | undefined
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | undefined }[]
    | undefined
}

/** Selects every object. */
export const everything: LabelSelectorMatcher = labelMatcher([])

/** Selects no object. */
export const nothing: LabelSelectorMatcher = {
  requirements: [],
  nothing: true,
  matches: () => false,
  toString: () => '',
}

/**
 * Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>5`. The empty text selects everything. Throws a BadRequest with
 * upstream's wording. `path` is where the text stands, for messages about a key or value in it.
 */
export function parseLabelSelector(text: string, path?: FieldPath): LabelSelectorMatcher {
  if (text === '') return everything
  const parsed = parseRequirements(text, path)
  if (typeof parsed === 'string') throw badRequest(parsed)
  return labelMatcher(parsed)
}

/** Selects what has all these labels. An empty map, or none, selects everything. */
export function selectorFromMap(labels: Labels | undefined): LabelSelectorMatcher {
  const entries = Object.entries(labels ?? {})
  return entries.length === 0
    ? everything
    : labelMatcher(entries.map(([key, value]) => ({ key, operator: '=', values: [value] })))
}

/** The selector an object carries: absent selects nothing, empty everything. Throws an Error on an unknown operator. */
export function selectorFromLabelSelector(selector: LabelSelectorObject | undefined): LabelSelectorMatcher {
  if (selector === undefined) return nothing
  const requirements: LabelRequirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: '=',
    values: [value],
  }))
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const known = expressionOperators.get(operator)
    if (known === undefined) throw new Error(`"${operator}" is not a valid label selector operator`)
    requirements.push({ key, operator: known, values: [...new Set(values)] })
  }
  return requirements.length === 0 ? everything : labelMatcher(requirements)
}

/** A LabelSelector as tables show it: its text, or `<none>`. */
export function formatSelector(selector: LabelSelectorObject | undefined): string {
  return selectorFromLabelSelector(selector).toString() || '<none>'
}

/** Labels as tables show them: `app=web,tier=front`, in the order of these texts, or `<none>`. */
export function formatLabels(labels: Labels | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)
  return pairs.sort(compareText).join(',') || '<none>'
}

/** A selector of these requirements. They are taken to be valid. */
export function labelMatcher(unordered: readonly LabelRequirement[]): LabelSelectorMatcher {
  const requirements = [...unordered].sort((a, b) => compareText(a.key, b.key))
  return {
    requirements,
    nothing: false,
    matches: matcherOf(requirements),
    toString: () => requirements.map(formatRequirement).join(','),
  }
}

/**
 * All requirements of one label are one condition, and those that hold where their label is absent are looked up by the labels an object
 * has: those are few, however many requirements there are.
 */
function matcherOf(requirements: readonly LabelRequirement[]): (labels: Labels | undefined) => boolean {
  const present: Condition[] = []
  const excluding = new Map<string, (value: string) => boolean>()
  for (const [key, all] of byKey(requirements)) {
    const accepts = acceptanceOf(all)
    if (all.every(({ operator }) => operator === '!=' || operator === 'notin' || operator === '!')) {
      excluding.set(key, accepts)
    } else {
      present.push({ key, accepts })
    }
  }
  return (labels = noLabels) => {
    for (const { key, accepts } of present) {
      const value = labels[key]
      // What every object inherits, such as toString, is no text. Faster than asking whether the label is the object's own.
      if (typeof value !== 'string' || !accepts(value)) return false
    }
    if (excluding.size === 0) return true
    for (const key of Object.keys(labels)) {
      if (excluding.get(key)?.(labels[key] as string) === false) return false
    }
    return true
  }
}

const noLabels: Labels = {}

interface Condition {
  readonly key: string
  readonly accepts: (value: string) => boolean
}

/** The requirements of each label. Those given are in the order of their keys. */
function byKey(requirements: readonly LabelRequirement[]): ReadonlyMap<string, readonly LabelRequirement[]> {
  const found = new Map<string, LabelRequirement[]>()
  for (const requirement of requirements) {
    const others = found.get(requirement.key)
    if (others === undefined) found.set(requirement.key, [requirement])
    else others.push(requirement)
  }
  return found
}

/** Whether the requirements of one label hold where it has a value. */
function acceptanceOf(requirements: readonly LabelRequirement[]): (value: string) => boolean {
  const [first, ...others] = requirements
  if (first !== undefined && others.length === 0) return acceptanceOfOne(first)
  let allowed: ReadonlySet<string> | undefined
  const excluded = new Set<string>()
  const bounds = new Map<'>' | '<', string>()
  for (const { operator, values } of requirements) {
    switch (operator) {
      case '=':
      case '==':
      case 'in':
        allowed = new Set(allowed === undefined ? values : values.filter((value) => allowed?.has(value)))
        break
      case '!=':
      case 'notin':
        for (const value of values) excluded.add(value)
        break
      case '!':
        return never
      case '>':
      case '<': {
        const [bound = ''] = values
        const before = bounds.get(operator)
        if (before === undefined || comparesAs(operator, bound, before)) bounds.set(operator, bound)
        break
      }
      case 'exists':
    }
  }
  return (value) =>
    allowed?.has(value) !== false &&
    !excluded.has(value) &&
    [...bounds].every(([operator, bound]) => comparesAs(operator, value, bound))
}

function acceptanceOfOne({ operator, values }: LabelRequirement): (value: string) => boolean {
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return membershipOf(values)
    case '!=':
    case 'notin': {
      const isNamed = membershipOf(values)
      return (value) => !isNamed(value)
    }
    case 'exists':
      return always
    case '!':
      return never
    case '>':
    case '<':
      return (value) => comparesAs(operator, value, values[0] ?? '')
  }
}

const always = (): boolean => true
const never = (): boolean => false

function membershipOf(values: readonly string[]): (value: string) => boolean {
  const [only] = values
  if (values.length === 1) return (value) => value === only
  const named = new Set(values)
  return (value) => named.has(value)
}

function comparesAs(operator: '>' | '<', value: string, bound: string): boolean {
  const [left, right] = [int64Of(value), int64Of(bound)]
  if (left === undefined || right === undefined) return false
  return operator === '>' ? left > right : left < right
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...values].sort(compareText).join(',')})`
    default:
      return `${key}${operator}${values.join(',')}`
  }
}
