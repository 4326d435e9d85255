import {
  addQuantities,
  deepEqual,
  formatQuantity,
  isCountedAs,
  isInScope,
  type KubernetesObject,
  quotaUsage,
  type Resource,
  type ResourceQuantities,
  type ResourceQuota,
  type ResourceQuotaStatus,
} from '@coracle/api'

/** The objects of a kind in the namespace of a quota. */
export interface CountedObjects {
  readonly resource: Pick<Resource, 'group' | 'plural'>
  readonly objects: readonly KubernetesObject[]
}

/**
 * What the objects of a namespace take of a quota, which is in force from then on. Of what nothing is counted under is said what was
 * said before, if anything. The same status where it says so already. Pure.
 */
export function planQuotaStatus(
  quota: ResourceQuota,
  counted: readonly CountedObjects[],
  nowMs: number,
): ResourceQuotaStatus {
  const { spec = {}, status = {} } = quota
  const hard = spec.hard ?? {}
  let total: ResourceQuantities = new Map()
  for (const { resource, objects } of counted) {
    for (const object of objects) {
      if (isInScope(spec, resource, object)) total = addQuantities(total, quotaUsage(resource, object, nowMs))
    }
  }
  const used = Object.fromEntries(
    Object.keys(hard).flatMap((name) => {
      const isCounted = counted.some(({ resource }) => isCountedAs(resource, name))
      const amount = total.get(name)
      const used = isCounted ? (amount === undefined ? '0' : formatQuantity(amount)) : status.used?.[name]
      return used === undefined ? [] : [[name, used]]
    }),
  )
  const next = { hard, used }
  return deepEqual(status, next) ? status : next
}

/** Kinds that quotas count under names of their own; all others only as `count/…`. */
const namedKinds = [
  'pods',
  'services',
  'persistentvolumeclaims',
  'configmaps',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
]

/** Quotas count the devices that they ask for, by class. */
const deviceClaims = { group: 'resource.k8s.io', plural: 'resourceclaims' }

/** The kinds that a quota counts, as `plural` or `plural.group`. */
export function countedKinds({ spec }: ResourceQuota): readonly string[] {
  const kinds = Object.keys(spec?.hard ?? {}).flatMap((name) => {
    if (name.startsWith('count/')) return [name.slice('count/'.length)]
    if (isCountedAs(deviceClaims, name)) return [`${deviceClaims.plural}.${deviceClaims.group}`]
    const kind = namedKinds.find((plural) => isCountedAs({ group: '', plural }, name))
    return kind === undefined ? [] : [kind]
  })
  return [...new Set(kinds)]
}

/** Whether nobody tells the controller when objects of this kind go, so that it has to look now and then. */
export const isWatched = (kind: string): boolean => namedKinds.includes(kind) && kind !== 'resourcequotas'
