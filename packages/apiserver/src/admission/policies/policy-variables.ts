import type { ParamKind, Variable } from '@coracle/api'
import type { AdmissionExpressionOptions, CelProgram, PolicyVariable } from '@coracle/api/admission'

/** What expressions of a policy may ask about. */
export interface CompiledVariables {
  readonly options: AdmissionExpressionOptions
  readonly variables: readonly PolicyVariable[]
  /** A variable that cannot be compiled: nothing else can be asked. */
  readonly problem: string | undefined
}

/** Compiles the variables of a policy, each of which may use those before it. */
export function compileVariables(
  api: typeof import('@coracle/api/admission'),
  spec: { readonly paramKind?: ParamKind | undefined; readonly variables?: readonly Variable[] | undefined },
): CompiledVariables {
  const types = new Map<string, CelProgram['type']>()
  const options = { hasParams: spec.paramKind !== undefined, hasAuthorizer: true, variables: types }
  const variables: PolicyVariable[] = []
  let problem: string | undefined
  for (const { name, expression } of spec.variables ?? []) {
    const compiled = api.compileAdmissionExpression(expression, [], options)
    if ('problem' in compiled) problem ??= `variable ${JSON.stringify(name)}: ${compiled.problem}`
    else {
      variables.push({ name, program: compiled.program })
      types.set(name, compiled.program.type)
    }
  }
  return { options, variables, problem }
}
