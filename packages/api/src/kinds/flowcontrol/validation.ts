import type * as schemas from './flow-schema-validation.ts'
import type * as levels from './priority-level-validation.ts'

type FlowValidation = typeof schemas & typeof levels

let loaded: FlowValidation | undefined

/** Loads the rules of flow control, which nobody needs who leaves it as it is. */
export async function loadFlowValidation(): Promise<void> {
  loaded ??= {
    ...(await import('./flow-schema-validation.ts')),
    ...(await import('./priority-level-validation.ts')),
  }
}

/** The rules, once they are loaded. */
export function flowValidation(): FlowValidation {
  if (loaded === undefined)
    throw new Error('the rules of flow control are not loaded: await the load of the strategy first')
  return loaded
}
