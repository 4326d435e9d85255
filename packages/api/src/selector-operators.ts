import type { LabelOperator } from './label-selectors.ts'

/** What the operators are called in objects, and in the text of selectors. */
export const expressionOperators: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])
