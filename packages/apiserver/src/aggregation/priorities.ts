/** Priorities of upstream's groups (cmd/kube-apiserver/app/aggregator.go). */
const groupPriorities: Readonly<Record<string, number>> = {
  // It has no APIService, and comes before all that can have one (kube-aggregator, handler_discovery.go).
  'apiregistration.k8s.io': 20_001,
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'resource.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
  'metrics.k8s.io': 100,
}
const customGroupPriority = 1_000

/** Whether a group is there from the start: others come and go with their kinds. */
export const isBuiltinGroup = (group: string): boolean => groupPriorities[group] !== undefined

/** Groups with a higher one come first in discovery, and are meant first by a short name; equal ones in the order of their names. */
export const groupPriorityOf = (group: string): number => groupPriorities[group] ?? customGroupPriority

/** Versions of a group with a higher one come first; equal ones as their names say. Upstream's numbers. */
export function versionPriorityOf(group: string, version: string): number {
  if (group === '') return 1
  if (group === 'autoscaling' && version === 'v2') return 30
  if (group === 'resource.k8s.io' || group === 'flowcontrol.apiserver.k8s.io') return 21
  return isBuiltinGroup(group) ? 15 : 100
}
