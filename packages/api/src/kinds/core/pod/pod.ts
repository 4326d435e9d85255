import { kind } from '../../kind.ts'
import { proxyVerbs } from '../proxy-options.ts'
import { podColumns } from './pod-columns.ts'
import { podDefaults } from './pod-defaults.ts'
import { type Pod, podSchema } from './pod-schema.ts'
import { podStrategy } from './pod-strategy.ts'

export { type Pod, podSchema } from './pod-schema.ts'

/** Pods: what everything else here exists to run. */
export const pods = kind<Pod>(podSchema, {
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  subresources: {
    attach: { kind: 'PodAttachOptions', verbs: ['create', 'get'], connects: true },
    binding: { kind: 'Binding', verbs: ['create'] },
    ephemeralcontainers: { kind: 'Pod', verbs: ['get', 'patch', 'update'] },
    eviction: { group: 'policy', kind: 'Eviction', verbs: ['create'] },
    exec: { kind: 'PodExecOptions', verbs: ['create', 'get'], connects: true },
    log: { kind: 'Pod', verbs: ['get'] },
    portforward: { kind: 'PodPortForwardOptions', verbs: ['create', 'get'], connects: true },
    resize: { kind: 'Pod', verbs: ['get', 'patch', 'update'] },
    proxy: { kind: 'PodProxyOptions', verbs: proxyVerbs, proxies: true },
  },
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
  rules: { returnsDeletedObject: true, statusKeeps: ['deletionTimestamp', 'ownerReferences'] },
  defaults: podDefaults,
  ...podStrategy,
})
