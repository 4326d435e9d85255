/** What expressions of MutatingAdmissionPolicies make: apply configurations and JSON patches. */
import type { ConstructibleType, ConstructibleTypes } from '../cel/check.ts'
import { CelError } from '../cel/errors.ts'
import { expressionProblem } from '../cel/expression-error.ts'
import { jsonOf } from '../cel/json-values.ts'
import { compileCel } from '../cel/program.ts'
import { type CelType, listOf, types, typeText } from '../cel/types.ts'
import { CelList, CelMap, CelObject, type CelValue } from '../cel/values.ts'
import type { AdmissionExpressionOptions, CompiledExpression } from './expression.ts'
import { variableTypes } from './variables.ts'

/** How a mutation says what is to change. */
export type PatchType = 'ApplyConfiguration' | 'JSONPatch'

const objectType = (name: string): CelType => ({ kind: 'object', name, fields: new Map() })
const patchType = objectType('JSONPatch')

/** `Object` is what is written, `Object.spec` what its field `spec` holds, and so on: which fields there are is not checked here. */
const constructible: ConstructibleTypes = (name): ConstructibleType | undefined => {
  if (name === 'Object' || name.startsWith('Object.')) return { type: objectType(name), fieldType: () => types.dyn }
  return name === 'JSONPatch' ? { type: patchType, fieldType: (field) => patchFields.get(field) } : undefined
}

const patchFields: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['op', types.string],
  ['path', types.string],
  ['from', types.string],
  ['value', types.dyn],
])

const wanted: Readonly<Record<PatchType, CelType>> = {
  ApplyConfiguration: objectType('Object'),
  JSONPatch: listOf(patchType),
}

/** Compiles the expression of a mutation. */
export function compileMutation(
  source: string,
  patch: PatchType,
  options: AdmissionExpressionOptions,
): CompiledExpression {
  const compiled = compileCel(source, variableTypes(options), {
    constructible,
    extension: 'json-patches',
    typeProblem: (type) => {
      const [found, expected] = [typeText(type), typeText(wanted[patch])]
      return found === expected ? undefined : `must evaluate to ${expected} but got ${found}`
    },
  })
  return 'problem' in compiled ? expressionProblem(compiled) : compiled
}

/**
 * The apply configuration that an expression has made. Throws an Error where an object stands at another place than its type
 * says: `Object{spec: Object.metadata{}}`.
 */
export function configurationFrom(value: CelValue): Readonly<Record<string, unknown>> {
  checkTypeNames(value, 'Object')
  return jsonOf(value) as Readonly<Record<string, unknown>>
}

/** The operations of a JSON patch that an expression has made. */
export function patchFrom(value: CelValue): readonly Readonly<Record<string, unknown>>[] {
  if (!(value instanceof CelList))
    throw new CelError('type mismatch: JSONPatchType.expression should evaluate to array')
  return value.values().map((operation) => {
    const { op = '', path = '', from = '' } = textsOf(operation)
    const value = operation instanceof CelObject ? operation.get('value') : undefined
    if (value instanceof CelObject) checkTypeNames(value, value.typeName)
    return { op, path, ...(from === '' ? {} : { from }), ...(value === undefined ? {} : { value: jsonOf(value) }) }
  })
}

/** What an operation says in texts. */
function textsOf(operation: CelValue): { readonly op?: string; readonly path?: string; readonly from?: string } {
  if (!(operation instanceof CelObject)) return {}
  const said = ['op', 'path', 'from'].map((name) => [name, operation.get(name)] as const)
  return Object.fromEntries(said.filter(([, text]) => typeof text === 'string'))
}

/** Lists and maps between objects have no names. */
function checkTypeNames(value: CelValue, path: string): void {
  const problems = typeNameProblems(value, path)
  if (problems.length > 0) throw new CelError(`type mismatch: ${problems.join('\n')}`)
}

function typeNameProblems(value: CelValue, path: string): readonly string[] {
  if (value instanceof CelList) return value.values().flatMap((each) => typeNameProblems(each, path))
  if (value instanceof CelMap) return value.entries().flatMap(([, each]) => typeNameProblems(each, path))
  if (!(value instanceof CelObject)) return []
  const expected = `${JSON.stringify(path)}, which matches field name path from root Object type`
  return [
    ...(value.typeName === path ? [] : [`unexpected type name "${value.typeName}", expected ${expected}`]),
    ...value.names().flatMap((name) => typeNameProblems(value.get(name) ?? null, `${path}.${name}`)),
  ]
}
