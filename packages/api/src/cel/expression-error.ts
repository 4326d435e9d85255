/** How upstream's API tells why an expression cannot be used. */
import { type FieldError, internalField, invalidField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import type { CelFailure } from './program.ts'

export interface ExpressionProblem {
  readonly problem: string
  /** An expression that fits and yet cannot be run is an internal error, but for custom resources. */
  readonly isInternal: boolean
}

const prefixes: Readonly<Record<CelFailure['stage'], string>> = {
  compilation: 'compilation failed: ',
  type: '',
  instantiation: 'program instantiation failed: ',
}

export const expressionProblem = ({ stage, problem }: CelFailure): ExpressionProblem => ({
  problem: `${prefixes[stage]}${problem}`,
  isInternal: stage === 'instantiation',
})

/** What is wrong with the field that holds the expression. */
export const expressionError = (
  path: FieldPath,
  expression: string,
  { problem, isInternal }: ExpressionProblem,
): FieldError => (isInternal ? internalField(path, problem) : invalidField(path, expression, problem))
