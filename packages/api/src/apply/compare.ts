import type { Schema } from '../schema/schema.ts'
import { differenceSteps, type Steps } from './difference.ts'
import { type FieldSet, FieldSetBuilder, type FieldSetNode, nodeBelow, noFields } from './field-set.ts'

/** How two values differ, field by field. */
export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** Two values without a difference. */
export const noDifference: Comparison = { added: noFields, modified: noFields, removed: noFields }

/**
 * What is different in `after`. Costs what has changed where the two share structure. Of changes that were alike the result
 * is the same object, as long as it is among those remembered: what follows from a change is known by its reference.
 */
export function compareFields(schema: Schema | undefined, before: unknown, after: unknown): Comparison {
  const steps = differenceSteps(schema, before, after)
  return steps.length === 0 ? noDifference : remembered(steps)
}

/** How many comparisons are remembered, the oldest of which goes first, and how long their steps may be in all. */
export const rememberedComparisonsMax = 512
const rememberedTextMax = 8192

interface Remembered {
  readonly stepsCount: number
  readonly comparison: Comparison
}

/**
 * By their steps. Building the sets takes four times as long as taking the steps, and pods of one template change alike: for
 * their status updates this halves what ownership costs.
 */
const comparisons = new Map<string, Remembered>()

function remembered(steps: Steps): Comparison {
  const text = steps.join('\n')
  const known = comparisons.get(text)
  // A name may hold a line break: no text that is remembered has more of them than there are steps.
  if (known?.stepsCount === steps.length) return known.comparison
  const comparison = comparisonOf(steps)
  if (text.length <= rememberedTextMax && !steps.some((step) => step.includes('\n'))) {
    if (comparisons.size >= rememberedComparisonsMax) forgetOldest()
    comparisons.set(text, { stepsCount: steps.length, comparison })
  }
  return comparison
}

function forgetOldest(): void {
  for (const text of comparisons.keys()) {
    comparisons.delete(text)
    return
  }
}

/** The same place in all three sets. */
interface Place {
  readonly added: FieldSetNode
  readonly modified: FieldSetNode
  readonly removed: FieldSetNode
}

/** What steps say of two values. */
export function comparisonOf(steps: Steps): Comparison {
  if (steps.length === 0) return noDifference
  const [added, modified, removed] = [new FieldSetBuilder(), new FieldSetBuilder(), new FieldSetBuilder()]
  let place: Place = { added: added.root, modified: modified.root, removed: removed.root }
  let last: Place = place
  const above: Place[] = []
  for (const step of steps) {
    const sign = step.charAt(0)
    if (sign === ')') {
      place = above.pop() ?? place
      continue
    }
    if (sign === '(') {
      above.push(place)
      place = last
      continue
    }
    const element = step.slice(1)
    if (sign === '>') {
      above.push(place)
      place = {
        added: nodeBelow(place.added, element),
        modified: nodeBelow(place.modified, element),
        removed: nodeBelow(place.removed, element),
      }
      continue
    }
    const set = sign === '+' ? 'added' : sign === '-' ? 'removed' : 'modified'
    const node = nodeBelow(place[set], element)
    node.member = true
    last = { ...place, [set]: node }
  }
  return { added: added.build(), modified: modified.build(), removed: removed.build() }
}
