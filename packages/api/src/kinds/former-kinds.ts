import { isJsonObject, type JsonObject } from '../json.ts'
import type { KubernetesObject } from '../meta.ts'
import { apiVersionOf } from '../resource.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import type { ConvertedVersion, StoredKind } from '../stored-kind.ts'
import { cronJobs } from './batch/cron-job/cron-job.ts'
import { endpointSlices } from './discovery/endpoint-slice/endpoint-slice.ts'
import {
  endpointSliceFromHub,
  endpointSliceToHub,
  formerEndpointSliceSchema,
} from './discovery/endpoint-slice/former-endpoint-slice.ts'
import { emptySelectorKey } from './policy/pod-disruption-budget/empty-selector-key.ts'
import { podDisruptionBudgets } from './policy/pod-disruption-budget/pod-disruption-budget.ts'
import { clusterRoles, roles } from './rbac/role.ts'
import { clusterRoleBindings, roleBindings } from './rbac/role-binding.ts'

/**
 * Versions that Kubernetes has ceased to serve, for clients that are older than that. No server serves
 * them unless it is told to (`withFormerVersions`).
 */
const formerVersions: readonly (readonly [StoredKind, ConvertedVersion])[] = [
  [cronJobs, formerVersion(cronJobs, { version: 'v1beta1', since: '1.21', until: '1.25' })],
  [
    podDisruptionBudgets,
    formerVersion(podDisruptionBudgets, { version: 'v1beta1', since: '1.21', until: '1.25' }, { toHub, fromHub }),
  ],
  ...[roles, roleBindings, clusterRoles, clusterRoleBindings].map(
    (kind) => [kind, formerVersion(kind, { version: 'v1beta1', since: '1.17', until: '1.22' })] as const,
  ),
  [
    endpointSlices,
    formerVersion(
      endpointSlices,
      { version: 'v1beta1', since: '1.21', until: '1.25' },
      { toHub: endpointSliceToHub, fromHub: endpointSliceFromHub, schema: formerEndpointSliceSchema },
    ),
  ],
]

/** What may be served again, each as `group/version`. */
export const formerVersionNames: readonly string[] = [...new Set(formerVersions.map(([, each]) => apiVersionOf(each)))]

/** The kinds, with those of their former versions that are wanted: of `formerVersionNames`, others are none. */
export function withFormerVersions(kinds: readonly StoredKind[], wanted: readonly string[]): readonly StoredKind[] {
  return kinds.map((kind) => {
    const added = formerVersions.flatMap(([of, version]) =>
      of === kind && wanted.includes(apiVersionOf(version)) ? [version] : [],
    )
    return added.length === 0 ? kind : { ...kind, versions: [...kind.versions, ...added] }
  })
}

interface Former {
  readonly version: string
  /** The minor versions of Kubernetes that deprecated it, and that had it no more. */
  readonly since: string
  readonly until: string
}

type Conversion = (object: JsonObject) => JsonObject

/** How it differs from the hub. */
interface Form {
  readonly toHub: Conversion
  readonly fromHub: Conversion
  /** The hub's, unless said otherwise. */
  readonly schema?: ObjectSchema<KubernetesObject>
}

function asItIs(object: JsonObject): JsonObject {
  return object
}

function formerVersion(
  hub: StoredKind,
  { version, since, until }: Former,
  { toHub, fromHub, schema = hub.schema }: Form = { toHub: asItIs, fromHub: asItIs },
): ConvertedVersion {
  const { storageKey, served, versions, nameFormat, selectableFields, strategy, rules, ...definition } = hub
  const name = `${hub.schema.name.slice(0, -`.${hub.version}.${hub.kind}`.length)}.${version}.${hub.kind}`
  const today = apiVersionOf(hub)
  const former = apiVersionOf({ group: hub.group, version })
  const converted = (convert: Conversion, apiVersion: string) => (object: KubernetesObject) =>
    ({ ...convert(object as unknown as JsonObject), apiVersion }) as unknown as KubernetesObject
  return {
    ...definition,
    version,
    schema: { ...schema, name },
    toHub: converted(toHub, today),
    fromHub: converted(fromHub, former),
    hubFields: Object.fromEntries(Object.keys(selectableFields).map((field) => [field, field])),
    deprecated: `${former} ${hub.kind} is deprecated in v${since}+, unavailable in v${until}+; use ${today} ${hub.kind}`,
  }
}

/** In policy/v1beta1 an empty selector picks no pod, in v1 all: what the other version cannot say is said by a key that no pod has. */
function toHub(budget: JsonObject): JsonObject {
  return withSelector(budget, (selector) => {
    if (isEmpty(selector)) return keySelector('Exists')
    return isKeySelector(selector, 'DoesNotExist') ? {} : selector
  })
}

function fromHub(budget: JsonObject): JsonObject {
  return withSelector(budget, (selector) => {
    if (isEmpty(selector)) return keySelector('DoesNotExist')
    return isKeySelector(selector, 'Exists') ? {} : selector
  })
}

function withSelector(budget: JsonObject, convert: Conversion): JsonObject {
  const { spec } = budget
  if (!isJsonObject(spec) || !isJsonObject(spec.selector)) return budget
  const selector = convert(spec.selector)
  return selector === spec.selector ? budget : { ...budget, spec: { ...spec, selector } }
}

const keySelector = (operator: 'Exists' | 'DoesNotExist'): JsonObject => ({
  matchExpressions: [{ key: emptySelectorKey, operator }],
})

const expressionsOf = ({ matchExpressions }: JsonObject): readonly unknown[] =>
  Array.isArray(matchExpressions) ? matchExpressions : []

const hasLabels = ({ matchLabels }: JsonObject): boolean =>
  isJsonObject(matchLabels) && Object.keys(matchLabels).length > 0

const isEmpty = (selector: JsonObject): boolean => !hasLabels(selector) && expressionsOf(selector).length === 0

function isKeySelector(selector: JsonObject, operator: string): boolean {
  const [only, ...more] = expressionsOf(selector)
  const isKey = isJsonObject(only) && only.key === emptySelectorKey && only.operator === operator
  return isKey && more.length === 0 && !hasLabels(selector)
}
