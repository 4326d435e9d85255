import type { ResourceDefinition } from '../../../resource.ts'
import { podColumns } from './pod-columns.ts'
import { type Pod, podSchema } from './pod-schema.ts'
import { podStrategy } from './pod-strategy.ts'

export { type Pod, podSchema } from './pod-schema.ts'

/** Pods: what everything else here exists to run. */
export const pods: ResourceDefinition<Pod> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  listKind: 'PodList',
  namespaced: true,
  shortNames: ['po'],
  categories: ['all'],
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  schema: podSchema,
  hasStatus: true,
  subresources: {
    binding: { group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
    log: { group: '', version: 'v1', kind: 'Pod', verbs: ['get'] },
  },
  nameFormat: 'dns1123-subdomain',
  columns: podColumns,
  selectableFields: {
    // The name of spec.nodeName in the first versions, which old clients still use.
    'spec.host': (pod) => pod.spec.nodeName ?? '',
    'spec.hostNetwork': (pod) => String(pod.spec.hostNetwork ?? false),
    'spec.nodeName': (pod) => pod.spec.nodeName ?? '',
    'spec.restartPolicy': (pod) => pod.spec.restartPolicy ?? '',
    'spec.schedulerName': (pod) => pod.spec.schedulerName ?? '',
    'spec.serviceAccountName': (pod) => pod.spec.serviceAccountName ?? '',
    'status.nominatedNodeName': (pod) => pod.status?.nominatedNodeName ?? '',
    'status.phase': (pod) => pod.status?.phase ?? '',
    'status.podIP': (pod) => pod.status?.podIPs?.[0]?.ip ?? '',
  },
  strategy: podStrategy,
}
