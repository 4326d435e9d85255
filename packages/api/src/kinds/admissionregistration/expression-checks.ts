import type * as admission from '../../admission/index.ts'

type ExpressionChecks = Pick<typeof admission, 'compileAdmissionExpression' | 'compileMutation'>

let loaded: ExpressionChecks | undefined

/** Loads what compiles expressions, which most clusters can do without. */
export async function loadExpressionChecks(): Promise<void> {
  loaded ??= await import('../../admission/index.ts')
}

/** What compiles expressions, once it is loaded. */
export function expressionChecks(): ExpressionChecks {
  if (loaded === undefined) throw new Error('expressions are not loaded: await the load of the strategy first')
  return loaded
}
