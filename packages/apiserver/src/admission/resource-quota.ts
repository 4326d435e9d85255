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
  resourceQuotas,
  subtractQuantity,
  unstatedResources,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import { unfilteredSelection } from '../watch-cache/selection.ts'
import type { StoredObject } from '../watch-cache/stored-object.ts'
import type { AdmissionAttributes, AdmissionPlugin, AdmittedResource } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { isReview } from './reviews.ts'
import { resizesPod } from './stored-objects.ts'

/**
 * Holds a namespace to its quotas. What an object takes is charged in the transaction that stores it: however many are
 * created at once no quota is overdrawn, and what is not created is not charged. The quota controller counts anew what is given
 * back, and says first what is used: a quota that it has not seen yet limits nothing.
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
        const charged = charge(attributes, old, object, clock.now())
        if (charged === undefined || attributes.dryRun) continue
        const key = cache.keyOf(namespace, old.object.metadata.name ?? '')
        alongside.push({ writer, key, old, object: charged })
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

/** The quota with what the object takes; undefined where that is nothing. Throws where it is too much. */
function charge(
  attributes: AdmissionAttributes,
  stored: StoredObject,
  object: KubernetesObject,
  nowMs: number,
): ResourceQuota | undefined {
  const quota = stored.object as ResourceQuota
  const { definition, old } = attributes
  const { hard = {}, used = {} } = quota.status ?? {}
  const limited = Object.keys(hard).filter((name) => isCountedAs(definition, name))
  if (limited.length === 0 || !isInScope(quota.spec ?? {}, definition, object)) return undefined
  const { name = '' } = quota.metadata
  const refuse = (why: string) => forbiddenByAdmission(attributes, object, why)
  const unstated = isPods(definition) ? unstatedResources(object as Pod, limited) : undefined
  if (unstated !== undefined) throw refuse(`failed quota: ${name}: ${unstated}`)
  if (limited.some((each) => used[each] === undefined)) {
    throw refuse(`status unknown for quota: ${name}, resources: ${limited.sort(compareText).join(',')}`)
  }
  const before = old === undefined ? nothing : usageIn(quota, definition, old, nowMs)
  const more = increase(quotaUsage(definition, object, nowMs), before, limited)
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

function usageIn(
  { spec = {} }: ResourceQuota,
  definition: AdmittedResource,
  object: KubernetesObject,
  nowMs: number,
): ResourceQuantities {
  return isInScope(spec, definition, object) ? quotaUsage(definition, object, nowMs) : nothing
}

/** By how much more is taken than before, of what is limited. */
function increase(
  usage: ResourceQuantities,
  before: ResourceQuantities,
  limited: readonly string[],
): ReadonlyMap<string, Quantity> {
  const more = new Map<string, Quantity>()
  for (const name of limited) {
    const amount = usage.get(name)
    if (amount === undefined) continue
    const difference = subtractQuantity(amount, before.get(name) ?? parseQuantity('0'))
    if (difference.nanos > 0n) more.set(name, difference)
  }
  return more
}
