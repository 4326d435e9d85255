import {
  addQuantity,
  bindings,
  compareQuantity,
  compareText,
  formatQuantity,
  isCountedAs,
  isInScope,
  type KubernetesObject,
  type Pod,
  parseQuantity,
  podChangesScope,
  type Quantity,
  quotaUsage,
  type ResourceList,
  type ResourceQuantities,
  type ResourceQuota,
  type ResourceQuotaSpec,
  resourceQuotas,
  subtractQuantity,
  unstatedResources,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import { unfilteredSelection } from '../watch-cache/selection.ts'
import type { AdmissionAttributes, AdmissionPlugin, AdmittedResource } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { isReview } from './reviews.ts'
import { resizesPod } from './stored-objects.ts'

/**
 * Holds a namespace to its quotas. What an object takes is charged in the transaction that stores it: however many are
 * created at once no quota is overdrawn, and what is not created is not charged. The quota controller counts anew what is given
 * back, and says first what is used: a quota that it has not seen yet limits nothing. What takes of such a quota writes it anew as it
 * is, in its own transaction: a count that does not have the object meets a conflict, and never comes into force.
 */
export function resourceQuota(registries: Registries, clock: Clock): AdmissionPlugin {
  return {
    name: 'ResourceQuota',
    validate(attributes, object) {
      const { definition, namespace, alongside } = attributes
      if (object === undefined || !definition.namespaced || !isCounted(attributes, object)) return
      const storage = registries.of(resourceQuotas)?.storage
      if (storage === undefined || storage.cache.size === 0) return
      const { cache, writer } = storage
      const { items } = cache.slice(unfilteredSelection(namespace), { limit: 0, afterKey: '' })
      for (const old of items) {
        const quota = old.object as ResourceQuota
        const written = judge(attributes, quota, object, clock.now())
        if (written === undefined || attributes.dryRun) continue
        const key = cache.keyOf(namespace, quota.metadata.name ?? '')
        alongside.push({ writer, key, old, object: written })
      }
    },
  }
}

/** Objects count when they come; of changes only those that may make them take more. */
function isCounted(attributes: AdmissionAttributes, object: KubernetesObject): boolean {
  const { operation, definition, subresource, old } = attributes
  // What is posted to put a pod on a node is no object, and a question is none.
  if (operation === 'CREATE') return subresource === '' && definition.kind !== bindings.kind && !isReview(attributes)
  if (operation !== 'UPDATE' || definition.group !== '') return false
  switch (definition.plural) {
    case 'pods':
      if (subresource === '') return old !== undefined && podChangesScope(old as Pod, object as Pod)
      return resizesPod(attributes)
    case 'services':
      return subresource === ''
    case 'persistentvolumeclaims':
      // Its status says what its volume is being grown to.
      return subresource === '' || subresource === 'status'
    default:
      return false
  }
}

/**
 * The quota as it is written along with the object: with what the object takes, or as it is where that is yet to be counted; undefined
 * where the object takes nothing of it. Throws where it takes too much.
 */
function judge(
  attributes: AdmissionAttributes,
  quota: ResourceQuota,
  object: KubernetesObject,
  nowMs: number,
): ResourceQuota | undefined {
  if (!isInScope(quota.spec ?? {}, attributes.definition, object)) return undefined
  return (
    charge(attributes, quota, object, nowMs) ?? (takesUncounted(attributes, quota, object, nowMs) ? quota : undefined)
  )
}

/** Whether the object takes of what the quota is to limit once it has been counted. */
function takesUncounted(
  attributes: AdmissionAttributes,
  { spec = {}, status = {} }: ResourceQuota,
  object: KubernetesObject,
  nowMs: number,
): boolean {
  const names = Object.keys(spec.hard ?? {}).filter((name) => status.hard?.[name] === undefined)
  return names.length > 0 && increase(attributes, spec, object, names, nowMs).size > 0
}

/** The quota with what the object takes; undefined where that is nothing. Throws where it is too much. */
function charge(
  attributes: AdmissionAttributes,
  quota: ResourceQuota,
  object: KubernetesObject,
  nowMs: number,
): ResourceQuota | undefined {
  const { definition } = attributes
  const { hard = {}, used = {} } = quota.status ?? {}
  const limited = Object.keys(hard).filter((name) => isCountedAs(definition, name))
  if (limited.length === 0) return undefined
  const { name = '' } = quota.metadata
  const refuse = (why: string) => forbiddenByAdmission(attributes, object, why)
  const unstated = isPods(definition) ? unstatedResources(object as Pod, limited) : undefined
  if (unstated !== undefined) throw refuse(`failed quota: ${name}: ${unstated}`)
  if (limited.some((each) => used[each] === undefined)) {
    throw refuse(`status unknown for quota: ${name}, resources: ${limited.sort(compareText).join(',')}`)
  }
  const more = increase(attributes, quota.spec ?? {}, object, limited, nowMs)
  if (more.size === 0) return undefined
  const total = Object.fromEntries(
    [...more].map(([each, amount]) => [each, formatQuantity(addQuantity(used[each] ?? '0', amount))]),
  )
  const exceeded = Object.keys(total).filter((each) => compareQuantity(total[each] ?? '0', hard[each] ?? '0') > 0)
  if (exceeded.length > 0) {
    const requested = Object.fromEntries([...more].map(([each, amount]) => [each, formatQuantity(amount)]))
    const shown = (amounts: ResourceList) =>
      exceeded
        .toSorted(compareText)
        .map((each) => `${each}=${amounts[each] ?? '0'}`)
        .join(',')
    const why = `exceeded quota: ${name}, requested: ${shown(requested)}, used: ${shown(used)}, limited: ${shown(hard)}`
    throw refuse(why)
  }
  return { ...quota, status: { ...quota.status, used: { ...used, ...total } } }
}

const isPods = ({ group, plural }: AdmittedResource): boolean => group === '' && plural === 'pods'

const nothing: ResourceQuantities = new Map()

/** By how much more an object that is in the scope takes than before, by these names. */
function increase(
  { definition, old }: AdmissionAttributes,
  scope: ResourceQuotaSpec,
  object: KubernetesObject,
  names: readonly string[],
  nowMs: number,
): ReadonlyMap<string, Quantity> {
  const usage = quotaUsage(definition, object, nowMs)
  const before = old !== undefined && isInScope(scope, definition, old) ? quotaUsage(definition, old, nowMs) : nothing
  const more = new Map<string, Quantity>()
  for (const name of names) {
    const amount = usage.get(name)
    if (amount === undefined) continue
    const difference = subtractQuantity(amount, before.get(name) ?? parseQuantity('0'))
    if (difference.nanos > 0n) more.set(name, difference)
  }
  return more
}
