import type { Schema } from '../schema/schema.ts'
import { differenceSteps, type Steps } from './difference.ts'
import { type FieldSet, FieldSetBuilder, type FieldSetNode, nodeBelow, noFields } from './field-set.ts'
import { inOneGo, type Passes, passPartsMax } from './passes.ts'

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
  return inOneGo(comparing(schema, before, after))
}

/** The same, in passes. */
export function* comparing(schema: Schema | undefined, before: unknown, after: unknown): Passes<Comparison> {
  const steps = differenceSteps(schema, before, after)
  if (steps.length === 0) return noDifference
  if (steps.length <= passPartsMax) return remembered(steps)
  yield
  return yield* comparisonBySteps(steps)
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

type Set = 'added' | 'modified' | 'removed'

/** The same place in all three sets. */
type Place = Readonly<Record<Set, FieldSetNode>>

/** What steps say of two values. */
export const comparisonOf = (steps: Steps): Comparison => inOneGo(comparisonBySteps(steps))

/** The same, in passes. */
export function* comparisonBySteps(steps: Steps): Passes<Comparison> {
  if (steps.length === 0) return noDifference
  const [added, modified, removed] = [new FieldSetBuilder(), new FieldSetBuilder(), new FieldSetBuilder()]
  let place: Place = { added: added.root, modified: modified.root, removed: removed.root }
  let lastSet: Set = 'added'
  let last: FieldSetNode = place.added
  let left = passPartsMax
  const above: Place[] = []
  for (const step of steps) {
    if (left-- === 0) {
      left = passPartsMax
      yield
    }
    const sign = step.charAt(0)
    if (sign === ')') {
      place = above.pop() ?? place
      continue
    }
    if (sign === '(') {
      above.push(place)
      place = { ...place, [lastSet]: last }
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
    lastSet = sign === '+' ? 'added' : sign === '-' ? 'removed' : 'modified'
    last = nodeBelow(place[lastSet], element)
    last.member = true
  }
  return {
    added: yield* added.building(),
    modified: yield* modified.building(),
    removed: yield* removed.building(),
  }
}
