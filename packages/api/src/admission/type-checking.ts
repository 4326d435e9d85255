import type { CelType } from '../cel/types.ts'
import type { ValidatingAdmissionPolicy } from '../kinds/admissionregistration/validating-admission-policy-schema.ts'
import type { Schema } from '../schema/schema.ts'
import { compileAdmissionExpression } from './expression.ts'
import { objectTypeOf } from './object-type.ts'

/** Kinds that a rule of a policy is checked against, at most. */
export const checkedKindsMax = 10

/** A kind in one version, as far as types are concerned. */
export interface TypedKind {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly schema: Schema
}

export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

type Spec = NonNullable<ValidatingAdmissionPolicy['spec']>

/**
 * What is wrong with the validations of a policy for the kinds that its rules name, in upstream's words (apiserver's
 * plugin/policy/validating TypeChecker). Nothing comes of it: the policy does what it does. Of an expression the first problem is told. Pure.
 */
export function policyTypeWarnings(spec: Spec, kinds: readonly TypedKind[]): readonly ExpressionWarning[] {
  const objects = checkedKinds(spec, kinds).flatMap((kind) => {
    const type = objectTypeOf(kind.schema, kind.kind)
    return type === undefined ? [] : [{ kind, type }]
  })
  const params = paramsType(spec, kinds)
  const contexts = objects.map(({ kind, type }) => ({ kind, options: withVariables(spec, type, params) }))
  const warningsOf = (fieldRef: string, expression: string): readonly ExpressionWarning[] => {
    const found = contexts.flatMap(({ kind, options }) => {
      const compiled = compileAdmissionExpression(expression, [], options)
      return 'problem' in compiled ? [`${kindText(kind)}: ${withoutLead(compiled.problem)}\n`] : []
    })
    return found.length === 0 ? [] : [{ fieldRef, warning: found.join('\n') }]
  }
  return (spec.validations ?? []).flatMap(({ expression, messageExpression = '' }, index) => [
    ...warningsOf(`spec.validations[${index}].expression`, expression),
    ...(messageExpression === '' ? [] : warningsOf(`spec.validations[${index}].messageExpression`, messageExpression)),
  ])
}

/**
 * The kinds that rules name one by one: whoever writes `*` means more than can be checked. As upstream looks them up, a group without
 * a name is any group: a rule about events is about those of both groups.
 */
function checkedKinds({ matchConstraints }: Spec, kinds: readonly TypedKind[]): readonly TypedKind[] {
  const found = new Map<string, TypedKind>()
  for (const { apiGroups = [], apiVersions = [], resources = [] } of matchConstraints?.resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].some((each) => each.includes('*'))) continue
    const wanted = kinds
      .filter(
        ({ group, version, plural }) =>
          (apiGroups.includes(group) || apiGroups.includes('')) &&
          apiVersions.includes(version) &&
          resources.includes(plural),
      )
      .sort(byKind)
    for (const kind of wanted.slice(0, checkedKindsMax)) found.set(kindText(kind), kind)
    if (wanted.length >= checkedKindsMax) break
  }
  return [...found.values()].sort(byKind)
}

function paramsType({ paramKind }: Spec, kinds: readonly TypedKind[]): CelType | undefined {
  const { apiVersion = '', kind = '' } = paramKind ?? {}
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const found = kinds.find((each) => each.group === group && each.version === version && each.kind === kind)
  return found === undefined ? undefined : objectTypeOf(found.schema, kind)
}

/** What expressions may name, with variables each after those it uses. One that is wrong is told where it is used, if it is. */
function withVariables({ variables = [], paramKind }: Spec, object: CelType, params: CelType | undefined) {
  const known = new Map<string, CelType>()
  const options = {
    // Of parameters of a kind that nobody knows anything may be asked.
    hasParams: paramKind !== undefined,
    hasAuthorizer: true,
    variables: known,
    types: { object, ...(params === undefined ? {} : { params }) },
  }
  for (const { name, expression } of variables) {
    const compiled = compileAdmissionExpression(expression, [], options)
    known.set(name, 'problem' in compiled ? { kind: 'dyn' } : compiled.program.type)
  }
  return options
}

const withoutLead = (problem: string): string => problem.replace(/^compilation failed: /, '')

/** As Go writes a GroupVersionKind: `apps/v1, Kind=Deployment`. */
const kindText = ({ group, version, kind }: TypedKind): string => `${group}/${version}, Kind=${kind}`

function byKind(a: TypedKind, b: TypedKind): number {
  const [left, right] = [a, b].map(({ group, version, kind }) => [group, version, kind])
  for (const [index, text] of (left ?? []).entries()) {
    const other = right?.[index] ?? ''
    if (text !== other) return text < other ? -1 : 1
  }
  return 0
}
