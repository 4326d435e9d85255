/** Every kind the server knows by itself, and what they are made of. */
import type { ResourceDefinition } from '../resource.ts'
import { leases } from './coordination/lease.ts'
import { configMaps } from './core/config-map.ts'
import { events } from './core/event.ts'
import { namespaces } from './core/namespace.ts'
import { nodes } from './core/node/node.ts'
import { pods } from './core/pod/pod.ts'
import { replicationControllers } from './core/replication-controller/replication-controller.ts'
import { secrets } from './core/secret.ts'
import { serviceAccounts } from './core/service-account.ts'

export * from './autoscaling/scale.ts'
export { ageColumn, nameColumn, timeSince } from './columns.ts'
export * from './coordination/lease.ts'
export * from './core/binding.ts'
export * from './core/common.ts'
export * from './core/config-map.ts'
export * from './core/event.ts'
export * from './core/namespace.ts'
export * from './core/node/node.ts'
export * from './core/node/node-schema.ts'
export * from './core/node/node-spec.ts'
export * from './core/node/node-status.ts'
export * from './core/pod/affinity.ts'
export * from './core/pod/container.ts'
export * from './core/pod/env.ts'
export * from './core/pod/pod.ts'
export * from './core/pod/pod-columns.ts'
export * from './core/pod/pod-defaults.ts'
export * from './core/pod/pod-qos.ts'
export * from './core/pod/pod-spec.ts'
export * from './core/pod/pod-status.ts'
export * from './core/pod/pod-template.ts'
export * from './core/pod/pod-validation.ts'
export * from './core/pod/probe.ts'
export * from './core/pod/projection.ts'
export * from './core/pod/resources.ts'
export * from './core/pod/scheduling.ts'
export * from './core/pod/security.ts'
export * from './core/pod/volume.ts'
export * from './core/pod/volume-sources.ts'
export * from './core/replication-controller/replication-controller.ts'
export * from './core/replication-controller/replication-controller-schema.ts'
export * from './core/secret.ts'
export * from './core/service-account.ts'
export * from './meta/delete-options.ts'
export * from './meta/names.ts'
export * from './meta/status.ts'
export * from './meta/watch-event.ts'

/** The definitions of all built-in kinds, in the order in which discovery lists them: by group, then by name. */
export const builtinResources: readonly ResourceDefinition[] = [
  configMaps,
  events,
  namespaces,
  nodes,
  pods,
  replicationControllers,
  secrets,
  serviceAccounts,
  leases,
]
