import { fieldSelector, parseLabelSelector, type ResourceAttributes, readFieldSelector } from '@coracle/api'

type FieldSelectorAttributes = NonNullable<ResourceAttributes['fieldSelector']>
type LabelSelectorAttributes = NonNullable<ResourceAttributes['labelSelector']>
type LabelConditions = NonNullable<LabelSelectorAttributes['requirements']>

/** The field selector of what a review asks about, as a query has it, and what the review tells of selectors that cannot be read. */
export interface AskedSelectors {
  readonly fieldSelector: string
  readonly evaluationError: string
}

/**
 * Reads the selectors of a review. What cannot be read of them is left out, which asks for more and not for less
 * (pkg/registry/authorization/util/helpers.go).
 */
export function askedSelectors({ fieldSelector: fields, labelSelector: labels }: ResourceAttributes): AskedSelectors {
  const selected = fieldSelectorOf(fields)
  const problems = [
    problemOf('fieldSelector', selected.read, selected.unread),
    ...(labels === undefined ? [] : [labelProblem(labels)]),
  ]
  return { fieldSelector: selected.text, evaluationError: problems.filter((each) => each !== '').join('; ') }
}

/** With how many conditions were read and how many were not. */
function fieldSelectorOf({ rawSelector = '', requirements = [] }: FieldSelectorAttributes = {}) {
  if (requirements.length === 0) {
    const isRead = readFieldSelector(rawSelector) !== undefined
    return { text: isRead ? rawSelector : '', read: 0, unread: isRead ? 0 : 1 }
  }
  const terms = requirements.flatMap(({ key: field, operator, values: [value, ...more] = [] }) => {
    if (value === undefined || more.length > 0) return []
    if (operator !== 'In' && operator !== 'NotIn') return []
    return { field, operator: operator === 'In' ? ('=' as const) : ('!=' as const), value }
  })
  return { text: fieldSelector(terms).toString(), read: terms.length, unread: requirements.length - terms.length }
}

function labelProblem({ rawSelector = '', requirements = [] }: LabelSelectorAttributes): string {
  if (requirements.length === 0) {
    return problemOf('labelSelector', 0, conditionsIn(rawSelector) === 0 ? 1 : 0)
  }
  const read = requirements.filter(isReadable).length
  return problemOf('labelSelector', read, requirements.length - read)
}

const written: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
}

/** Whether a query could have this condition. */
function isReadable({ key, operator, values = [] }: LabelConditions[number]): boolean {
  const text = written[operator]?.(key, values.join())
  const takesValues = operator === 'In' || operator === 'NotIn'
  return text !== undefined && values.length > 0 === takesValues && conditionsIn(text) === 1
}

/** How many conditions a label selector has; none where it cannot be read. */
function conditionsIn(labelSelector: string): number {
  try {
    return parseLabelSelector(labelSelector).requirements.length
  } catch {
    return 0
  }
}

function problemOf(name: 'fieldSelector' | 'labelSelector', read: number, unread: number): string {
  if (unread === 0) return ''
  return `spec.resourceAttributes.${name} ${read > 0 ? 'partially ' : ''}ignored due to parse error`
}
