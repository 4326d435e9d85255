import {
  addQuantities,
  deepEqual,
  formatQuantity,
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

/** What the objects of a namespace take of a quota, which is in force from then on. The same status where it says so already. Pure. */
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
    Object.keys(hard).map((name) => {
      const amount = total.get(name)
      return [name, amount === undefined ? '0' : formatQuantity(amount)]
    }),
  )
  const next = { hard, used }
  return deepEqual(status, next) ? status : next
}

/** Kinds whose amounts quotas know; of all others they count objects. */
const measured = ['pods', 'services', 'persistentvolumeclaims']

/** The kinds that a quota counts, as `plural` or `plural.group`. */
export function countedKinds({ spec }: ResourceQuota): readonly string[] {
  const kinds = Object.keys(spec?.hard ?? {}).map((name) => {
    if (name.startsWith('count/')) return name.slice('count/'.length)
    if (name.startsWith('services.')) return 'services'
    if (name === 'requests.storage' || name.includes('.storageclass.storage.k8s.io/')) return 'persistentvolumeclaims'
    return /^(?:configmaps|persistentvolumeclaims|replicationcontrollers|resourcequotas|secrets|services)$/.test(name)
      ? name
      : 'pods'
  })
  return [...new Set(kinds)]
}

/** Whether nobody tells the controller when objects of this kind go, so that it has to look now and then. */
export const isWatched = (kind: string): boolean =>
  measured.includes(kind) || kind === 'configmaps' || kind === 'secrets' || kind === 'replicationcontrollers'
