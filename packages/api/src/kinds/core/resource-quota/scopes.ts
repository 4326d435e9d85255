/** What a quota may be restricted to, and of which resources each restriction makes sense. */

const podCounts = ['pods']
const podAmounts = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']
const claimAmounts = ['persistentvolumeclaims', 'requests.storage']

/** The resources that a quota of each scope may limit. */
const resourcesOfScope: Readonly<Record<string, readonly string[]>> = {
  BestEffort: podCounts,
  CrossNamespacePodAffinity: [...podCounts, ...podAmounts],
  NotBestEffort: [...podCounts, ...podAmounts],
  NotTerminating: [...podCounts, ...podAmounts],
  PriorityClass: [...podCounts, ...podAmounts],
  Terminating: [...podCounts, ...podAmounts],
  VolumeAttributesClass: claimAmounts,
}

/** Scopes that an object is in or not, without a value that could be compared. */
export const scopesWithoutValues: ReadonlySet<string> = new Set([
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'Terminating',
])

/** Scopes that no object is in at once. */
export const conflictingScopes: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
]

export const isQuotaScope = (name: string): boolean => Object.hasOwn(resourcesOfScope, name)

/** Whether a quota of a scope may limit a resource: one that is not known is not judged, nor is an unknown scope. */
export function scopeFits(scope: string, resource: string): boolean {
  return !isQuotaScope(scope) || !isQuotaResource(resource) || (resourcesOfScope[scope]?.includes(resource) ?? false)
}

const quotaResources = new Set([
  'configmaps',
  'cpu',
  'ephemeral-storage',
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'memory',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
  'requests.storage',
  'resourcequotas',
  'secrets',
  'services',
  'services.loadbalancers',
  'services.nodeports',
])

/** Whether this is a resource without a prefix that quotas know. */
export const isQuotaResource = (name: string): boolean => quotaResources.has(name) || isQuotaHugePages(name)

/** Huge pages of one size, as they are or as requests. */
export const isQuotaHugePages = (name: string): boolean =>
  name.startsWith('hugepages-') || name.startsWith('requests.hugepages-')
