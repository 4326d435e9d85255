import {
  deepEqual,
  type KubernetesObject,
  type LabelRequirement,
  type LabelSelectorMatcher,
  type Labels,
} from '@coracle/api'
import type { IndexFunction, Informer } from '@coracle/client'

/**
 * Indexes that join labels and selectors, in both directions, so that neither side has to be listed:
 *
 * - which objects select this one? File the selecting objects with `filedBySelector`, and ask `selecting`;
 * - which objects does this selector select? File the selected objects with `filedByLabels`, and ask `selected`.
 *
 * Each is filed under what one requirement of a selector asks for, and under that alone: `app=web` where the selector has a
 * requirement that names values, `app` where it has none but one that asks for a label to be there, and the namespace otherwise.
 */

/** The index of objects by what their selectors ask for. */
export const selectorIndexName = 'selector'

/** Files objects that select others, for `selecting`. */
export function filedBySelector<T extends KubernetesObject>(
  selectorOf: (object: T) => LabelSelectorMatcher,
): IndexFunction<T> {
  return (object) => selectorTerms(object.metadata.namespace, selectorOf(object))
}

/** Files objects under their labels, for `selected`. */
export const filedByLabels: IndexFunction<KubernetesObject> = ({ metadata: { namespace, labels } }) =>
  labelTerms(namespace, labels)

/** Objects of a namespace (indexed with `filedBySelector`) that may select these labels: their selectors have yet to be asked. */
export function selecting<T extends KubernetesObject>(
  informer: Pick<Informer<T>, 'byIndex'>,
  namespace: string | undefined,
  labels: Labels | undefined,
): readonly T[] {
  // Most labels are selected by nobody, and each change of a pod is asked about by all who select.
  let found: readonly T[] = []
  for (const term of labelTerms(namespace, labels)) {
    const filed = informer.byIndex(selectorIndexName, term)
    if (filed.length > 0) found = found.length === 0 ? filed : [...found, ...filed]
  }
  return found
}

/** Objects of a namespace that a selector selects, by an index made with `filedByLabels`. */
export function selected<T extends KubernetesObject>(
  informer: Pick<Informer<T>, 'byIndex'>,
  indexName: string,
  namespace: string | undefined,
  selector: LabelSelectorMatcher,
): readonly T[] {
  const candidates = selectorTerms(namespace, selector).flatMap((term) => informer.byIndex(indexName, term))
  return candidates.filter(({ metadata }) => selector.matches(metadata.labels))
}

/** What an object that is selected by this selector has at least one of, and no term twice. */
export function selectorTerms(namespace: string | undefined, selector: LabelSelectorMatcher): readonly string[] {
  if (selector.nothing) return []
  const named = selector.requirements.find(namesValues)
  if (named !== undefined) return named.values.map((value) => termOf(namespace, `${named.key}=${value}`))
  const present = selector.requirements.find(asksForPresence)
  return [termOf(namespace, present?.key ?? '')]
}

interface KnownTerms {
  readonly namespace: string | undefined
  readonly labels: Labels
  readonly terms: readonly string[]
}

const noLabels: Labels = Object.freeze({})

/**
 * Of the labels asked about last: half a dozen handlers and indexes in turn are told of one change of a pod, and ask. Pods of one template
 * come together: with the same texts, which are hashed once, they are found in indexes faster.
 */
let latest: KnownTerms | undefined

/** All terms under which a selector that selects these labels may be filed. */
export function labelTerms(namespace: string | undefined, labels: Labels = noLabels): readonly string[] {
  const isKnown = latest !== undefined && latest.namespace === namespace && deepEqual(latest.labels, labels)
  const known = isKnown ? latest : undefined
  if (known?.labels === labels) return known.terms
  const terms = known?.terms ?? [
    termOf(namespace, ''),
    ...Object.entries(labels).flatMap(([key, value]) => [termOf(namespace, `${key}=${value}`), termOf(namespace, key)]),
  ]
  // Labels that are not frozen may change.
  if (Object.isFrozen(labels)) latest = { namespace, labels, terms }
  return terms
}

/** Neither namespaces nor labels contain a line break. */
const termOf = (namespace: string | undefined, label: string): string => `${namespace ?? ''}\n${label}`

const namesValues = ({ operator }: LabelRequirement): boolean =>
  operator === '=' || operator === '==' || operator === 'in'

const asksForPresence = ({ operator }: LabelRequirement): boolean =>
  operator === 'exists' || operator === '>' || operator === '<'
