import type { LabelSelectorMatcher, Pod } from '@coracle/api'
import type { SelectorProblem } from './plan.ts'

/** What is scaled does not say which pods are its own. */
export const emptySelector: SelectorProblem = {
  reason: 'InvalidSelector',
  message: "the HPA target's scale is missing a selector",
  event: { reason: 'SelectorRequired', message: 'selector is required' },
}

/** It says so in words that nobody understands. */
export function unreadableSelector(why: string): SelectorProblem {
  const message = `couldn't convert selector into a corresponding internal selector object: ${why}`
  return { reason: 'InvalidSelector', message, event: { reason: 'InvalidSelector', message } }
}

/** The problem of an autoscaler whose pods others select as well; undefined where none does. `selectors` are those of its namespace. */
export function ambiguity(
  key: string,
  selectorText: string,
  pods: readonly Pod[],
  selectors: ReadonlyMap<string, LabelSelectorMatcher>,
): SelectorProblem | undefined {
  const own = selectors.get(key)
  const others = [...selectors].filter(([other, selector]) => {
    if (other === key || own === undefined || excludeEachOther(own, selector)) return false
    return pods.some(({ metadata }) => selector.matches(metadata.labels))
  })
  if (others.length === 0) return undefined
  const all = [key, ...others.map(([other]) => other)].sort()
  const message = `pods by selector ${selectorText} are controlled by multiple HPAs: [${all.join(' ')}]`
  return { reason: 'AmbiguousSelector', message, event: { reason: 'AmbiguousSelector', message } }
}

/** Whether two selectors ask for different values of one label, as most do: then no pod has to be looked at. */
function excludeEachOther(a: LabelSelectorMatcher, b: LabelSelectorMatcher): boolean {
  return a.requirements.some(({ key, operator, values }) => {
    if (!isEquality(operator)) return false
    const other = b.requirements.find((each) => each.key === key && isEquality(each.operator))
    return other !== undefined && other.values[0] !== values[0]
  })
}

const isEquality = (operator: string): boolean => operator === '=' || operator === '=='
