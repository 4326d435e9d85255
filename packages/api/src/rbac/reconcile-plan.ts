import { deepEqual } from '../equality.ts'
import type { AggregationRule, ClusterRole, PolicyRule } from '../kinds/rbac/role.ts'
import type { RoleBinding, Subject } from '../kinds/rbac/role-binding.ts'
import type { KubernetesObject } from '../meta.ts'
import { uncoveredRules } from './rule-coverage.ts'

/** Roles and cluster roles: the former have no aggregation rule. */
export type AnyRole = Omit<ClusterRole, 'rules'> & { readonly rules?: readonly PolicyRule[] }

/** Bindings of both kinds have the same fields. */
export type AnyBinding = RoleBinding

/** What is to be done about an object, and what it lacks or has beyond the file. */
export interface ReconcilePlan<T extends KubernetesObject> {
  readonly operation: 'none' | 'create' | 'update' | 'recreate'
  /** The object as it is to be. */
  readonly object: T
  /** It has opted out of changes by reconciliation: nothing is done. */
  readonly isProtected: boolean
  readonly missingRules: readonly PolicyRule[]
  readonly extraRules: readonly PolicyRule[]
  readonly missingSubjects: readonly Subject[]
  readonly extraSubjects: readonly Subject[]
}

/** On roles and bindings: `false` where reconciliation is to leave them alone. */
const autoUpdateAnnotation = 'rbac.authorization.kubernetes.io/autoupdate'

const nothing = { missingRules: [], extraRules: [], missingSubjects: [], extraSubjects: [] } as const

/**
 * A role with the rules that are expected of it, beside those it has; with `removeExtra`, with those alone
 * (k8s.io/component-helpers/auth/rbac/reconciliation).
 */
export function planRole(
  existing: AnyRole | undefined,
  expected: AnyRole,
  removeExtra: boolean,
): ReconcilePlan<AnyRole> {
  if (existing === undefined) {
    return { ...nothing, operation: 'create', object: expected, isProtected: false, missingRules: expected.rules ?? [] }
  }
  // The rules of an aggregated role are what its controller makes them.
  const areAggregated = existing.aggregationRule !== undefined && expected.aggregationRule !== undefined
  const [has, wants] = [existing.rules ?? [], expected.rules ?? []]
  const missingRules = areAggregated ? [] : uncoveredRules(wants, has)
  const extraRules = areAggregated ? [] : uncoveredRules(has, wants)
  const isOther = missingRules.length > 0 || (removeExtra && extraRules.length > 0)
  const rules = !isOther ? existing.rules : removeExtra ? wants : [...has, ...missingRules]
  const aggregationRule = aggregationOf(existing.aggregationRule, expected.aggregationRule, removeExtra)
  const object = {
    ...withMetadataOf(existing, expected),
    ...(rules === undefined ? {} : { rules }),
    ...(aggregationRule === undefined ? {} : { aggregationRule }),
  }
  return { ...nothing, ...changeOf(existing, object), missingRules, extraRules }
}

/** Selectors of both, or with `removeExtra` those that are expected where they differ. */
function aggregationOf(
  existing: AggregationRule | undefined,
  expected: AggregationRule | undefined,
  removeExtra: boolean,
): AggregationRule | undefined {
  const [has, wants] = [existing?.clusterRoleSelectors ?? [], expected?.clusterRoleSelectors ?? []]
  const lacking = (list: typeof has, others: typeof has) =>
    list.filter((each) => !others.some((other) => deepEqual(each, other)))
  const missing = lacking(wants, has)
  if (removeExtra) return missing.length + lacking(has, wants).length === 0 ? existing : expected
  return missing.length === 0 ? existing : { clusterRoleSelectors: [...has, ...missing] }
}

/** A binding with the subjects that are expected of it, as with rules. One of another role is made anew: it cannot be changed. */
export function planBinding(
  existing: AnyBinding | undefined,
  expected: AnyBinding,
  removeExtra: boolean,
): ReconcilePlan<AnyBinding> {
  const wants = expected.subjects ?? []
  if (existing === undefined) {
    return { ...nothing, operation: 'create', object: expected, isProtected: false, missingSubjects: wants }
  }
  if (!deepEqual(existing.roleRef, expected.roleRef)) {
    return { ...nothing, operation: 'recreate', object: expected, isProtected: hasOptedOut(existing) }
  }
  const has = existing.subjects ?? []
  const lacking = (list: readonly Subject[], others: readonly Subject[]) =>
    list.filter((each) => !others.some((other) => deepEqual(each, other)))
  const [missingSubjects, extraSubjects] = [lacking(wants, has), lacking(has, wants)]
  const isOther = missingSubjects.length > 0 || (removeExtra && extraSubjects.length > 0)
  const subjects = !isOther ? existing.subjects : removeExtra ? wants : [...has, ...missingSubjects]
  const object = { ...withMetadataOf(existing, expected), ...(subjects === undefined ? {} : { subjects }) }
  return { ...nothing, ...changeOf(existing, object), missingSubjects, extraSubjects }
}

function changeOf<T extends KubernetesObject>(existing: T, object: T) {
  const operation = deepEqual(existing, object) ? ('none' as const) : ('update' as const)
  return { operation, object, isProtected: hasOptedOut(existing) }
}

const hasOptedOut = ({ metadata }: KubernetesObject): boolean =>
  metadata.annotations?.[autoUpdateAnnotation] === 'false'

/** The object with the labels and annotations that are expected, where it has no others of their names. */
function withMetadataOf<T extends KubernetesObject>(existing: T, { metadata: expected }: KubernetesObject): T {
  const { labels, annotations } = existing.metadata
  return {
    ...existing,
    metadata: {
      ...existing.metadata,
      ...(expected.labels === undefined ? {} : { labels: { ...expected.labels, ...labels } }),
      ...(expected.annotations === undefined ? {} : { annotations: { ...expected.annotations, ...annotations } }),
    },
  }
}
