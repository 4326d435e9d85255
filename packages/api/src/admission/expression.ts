import { type ExpressionProblem, expressionProblem } from '../cel/expression-error.ts'
import { type CelProgram, compileCel } from '../cel/program.ts'
import { type CelType, types, typeText } from '../cel/types.ts'
import { variableTypes } from './variables.ts'

export interface AdmissionExpressionOptions {
  /** Whether there is a policy whose parameters the expression may ask about. */
  readonly hasParams: boolean
  readonly hasAuthorizer: boolean
  /** The types of the variables that a policy has defined before, for `variables`. */
  readonly variables?: ReadonlyMap<string, CelType>
  /** The types of what the request is about, and of parameters, where they are known before there is one. */
  readonly types?: { readonly object: CelType; readonly params?: CelType }
}

/** An expression ready to be run, or why it is none. */
export type CompiledExpression = { readonly program: CelProgram } | ExpressionProblem

/** Compiles an expression about a request that must come to one of these types; any where there are none. */
export function compileAdmissionExpression(
  source: string,
  wanted: readonly ('bool' | 'string' | 'null')[],
  options: AdmissionExpressionOptions,
): CompiledExpression {
  const compiled = compileCel(source, variableTypes(options), {
    typeProblem: (type) => {
      if (wanted.length === 0 || wanted.some((each) => each === type.kind)) return undefined
      const names = wanted.map((each) => (each === 'null' ? 'null_type' : typeText(types[each])))
      const found = type.kind === 'null' ? 'null_type' : typeText(type)
      const expected = names.length === 1 ? names[0] : `one of [${names.join(' ')}]`
      return `must evaluate to ${expected} but got ${found}`
    },
  })
  return 'problem' in compiled ? expressionProblem(compiled) : compiled
}
