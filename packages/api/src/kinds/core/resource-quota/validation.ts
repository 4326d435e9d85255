import { type FieldError, invalidField, requiredField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { structValue } from '../../../internal-structs/struct-value.ts'
import { compareQuantity, isQuantity, parseQuantity } from '../../../quantity.ts'
import type { ResourceList } from '../common.ts'
import { isExtended, isObjectCount, resourceName } from '../pod/validation/resources.ts'
import type { ResourceQuota, ResourceQuotaSpec, ScopedResourceSelectorRequirement } from './schema.ts'
import {
  conflictingScopes,
  isQuotaHugePages,
  isQuotaResource,
  isQuotaScope,
  scopeFits,
  scopesWithoutValues,
} from './scopes.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')

/** What is wrong with a quota (core/validation ValidateResourceQuota). */
export function validateResourceQuota({ spec = {} }: ResourceQuota): readonly FieldError[] {
  return [
    ...validateAmounts(spec.hard, specPath.field('hard')),
    ...validateScopes(spec, specPath.field('scopes')),
    ...validateScopeSelector(spec, specPath.field('scopeSelector').field('matchExpressions')),
  ]
}

function validateAmounts(amounts: ResourceList = {}, path: FieldPath): readonly FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => [
    ...validateName(name, path.key(name)),
    ...validateAmount(name, amount, path.key(name)),
  ])
}

function validateName(name: string, path: FieldPath): readonly FieldError[] {
  const errors = isQuotaHugePages(name) ? [] : resourceName(name, path)
  if (name.includes('/') || isQuotaResource(name)) return errors
  return [...errors, invalidField(path, name, 'must be a standard resource for quota')]
}

function validateAmount(name: string, amount: string, path: FieldPath): readonly FieldError[] {
  if (!isQuantity(amount)) return []
  const errors: FieldError[] = []
  if (compareQuantity(amount, '0') < 0) errors.push(invalidField(path, amount, 'must be greater than or equal to 0'))
  const isWhole = parseQuantity(amount).nanos % 1_000_000_000n === 0n
  if (!isWhole && (isObjectCount(name) || isExtended(name)))
    errors.push(invalidField(path, amount, 'must be an integer'))
  return errors
}

function validateScopes({ scopes = [], hard = {} }: ResourceQuotaSpec, path: FieldPath): readonly FieldError[] {
  const invalid = (why: string): FieldError => invalidField(path, scopes, why)
  return [
    ...scopes.flatMap((scope) => [
      ...(isQuotaScope(scope) ? [] : [invalid('unsupported scope')]),
      ...unfitResources(scope, hard).map(() => invalid('unsupported scope applied to resource')),
    ]),
    ...conflictsAmong(scopes).map(() => invalid('conflicting scopes')),
  ]
}

const unfitResources = (scope: string, hard: ResourceList): readonly string[] =>
  Object.keys(hard).filter((resource) => !scopeFits(scope, resource))

const conflictsAmong = (scopes: readonly string[]) =>
  conflictingScopes.filter((pair) => pair.every((scope) => scopes.includes(scope)))

function validateScopeSelector(spec: ResourceQuotaSpec, path: FieldPath): readonly FieldError[] {
  const { scopeSelector, hard = {} } = spec
  const requirements = scopeSelector?.matchExpressions ?? []
  const why = 'unsupported scope applied to resource'
  return [
    ...requirements.flatMap((requirement) => [
      ...(isQuotaScope(requirement.scopeName)
        ? []
        : [invalidField(path.field('scopeName'), requirement.scopeName, 'unsupported scope')]),
      ...unfitResources(requirement.scopeName, hard).map(() =>
        invalidField(path, structValue('core.ScopeSelector', scopeSelector), why),
      ),
      ...validateRequirement(requirement, path),
    ]),
    ...conflictsAmong(requirements.map(({ scopeName }) => scopeName)).map(() =>
      invalidField(path, spec.scopes, 'conflicting scopes'),
    ),
  ]
}

/** Paths name the list, not the element: so do upstream's. */
function validateRequirement(requirement: ScopedResourceSelectorRequirement, path: FieldPath): readonly FieldError[] {
  const { scopeName, operator, values = [] } = requirement
  const errors: FieldError[] = []
  if (scopesWithoutValues.has(scopeName) && operator !== 'Exists') {
    const why =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
    errors.push(invalidField(path.field('operator'), operator, why))
  }
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return errors
      return [
        ...errors,
        requiredField(
          path.field('values'),
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        ),
      ]
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return errors
      return [
        ...errors,
        invalidField(
          path.field('values'),
          values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
      ]
    default:
      return [...errors, invalidField(path.field('operator'), operator, 'not a valid selector operator')]
  }
}

/** What a quota counts cannot change: what it has counted would be wrong. */
export function validateResourceQuotaUpdate({ spec }: ResourceQuota, { spec: old }: ResourceQuota): FieldError[] {
  const [scopes, before] = [spec?.scopes ?? [], old?.scopes ?? []]
  if (scopes.every((each) => before.includes(each)) && before.every((each) => scopes.includes(each))) return []
  return [invalidField(specPath.field('scopes'), spec?.scopes, 'field is immutable')]
}

export function validateResourceQuotaStatus({ status = {} }: ResourceQuota): readonly FieldError[] {
  return [
    ...validateAmounts(status.hard, statusPath.field('hard')),
    ...validateAmounts(status.used, statusPath.field('used')),
  ]
}
