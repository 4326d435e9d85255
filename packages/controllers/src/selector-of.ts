import { type LabelSelectorMatcher, type LabelSelectorObject, nothing, selectorFromLabelSelector } from '@coracle/api'

const matchers = new WeakMap<LabelSelectorObject, LabelSelectorMatcher>()

/** The selector an object carries, ready to match; absent selects nothing. It is made once: versions of an object share it. */
export function selectorOf(selector: LabelSelectorObject | undefined): LabelSelectorMatcher {
  if (selector === undefined) return nothing
  const existing = matchers.get(selector)
  if (existing !== undefined) return existing
  const matcher = selectorFromLabelSelector(selector)
  matchers.set(selector, matcher)
  return matcher
}

/** Whether a selector asks for nothing, and so selects everything. */
export function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0
}

/** What an object selects that owns what it selects. An empty selector, which would be everybody's, selects none. */
export function ownSelector({
  spec,
}: {
  readonly spec: { readonly selector: LabelSelectorObject }
}): LabelSelectorMatcher {
  const selector = selectorOf(spec.selector)
  return selector.requirements.length === 0 ? nothing : selector
}
