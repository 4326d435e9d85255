import type { FlowSchema, FlowSchemaSpec, FlowSubject, ResourcePolicyRule } from './flow-schema-schema.ts'
import type { PriorityLevelConfiguration, PriorityLevelConfigurationSpec } from './priority-level-schema.ts'

/** With the value "true" the server keeps the spec of a suggested object as it suggests it. */
export const autoUpdateAnnotation = 'apf.kubernetes.io/autoupdate-spec'

/** The level whose requests never wait, and the schema that leads to it. */
export const exemptName = 'exempt'
/** The level and the schema of what no other schema matches. */
export const catchAllName = 'catch-all'

const groups = (...names: readonly string[]): readonly FlowSubject[] =>
  names.map((name) => ({ kind: 'Group', group: { name } }))
const users = (...names: readonly string[]): readonly FlowSubject[] =>
  names.map((name) => ({ kind: 'User', user: { name } }))
const kubeSystemAccounts: readonly FlowSubject[] = [
  { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } },
]
const everybody = groups('system:unauthenticated', 'system:authenticated')

const resources = (
  apiGroup: string,
  names: readonly string[],
  { verbs = ['*'], clusterScope = false }: Partial<Pick<ResourcePolicyRule, 'verbs' | 'clusterScope'>> = {},
): ResourcePolicyRule => ({
  verbs,
  apiGroups: [apiGroup],
  resources: names,
  ...(clusterScope ? { clusterScope } : {}),
  namespaces: ['*'],
})

const everything = {
  resourceRules: [resources('*', ['*'], { clusterScope: true })],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

type Distinguisher = 'ByUser' | 'ByNamespace' | undefined

const schema = (
  name: string,
  level: string,
  matchingPrecedence: number,
  by: Distinguisher,
  rule: NonNullable<FlowSchemaSpec['rules']>[number],
): FlowSchema => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name, annotations: { [autoUpdateAnnotation]: 'true' } },
  spec: {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence,
    ...(by === undefined ? {} : { distinguisherMethod: { type: by } }),
    rules: [rule],
  },
})

const level = (name: string, spec: PriorityLevelConfigurationSpec): PriorityLevelConfiguration => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  metadata: { name, annotations: { [autoUpdateAnnotation]: 'true' } },
  spec,
})

const queued = (
  name: string,
  nominalConcurrencyShares: number,
  lendablePercent: number,
  queues: number,
  handSize: number,
): PriorityLevelConfiguration =>
  level(name, {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
      lendablePercent,
    },
  })

/** Levels without which there is no flow control: they are always there, and as they are here (apiserver, flowcontrol/bootstrap). */
export const mandatoryPriorityLevels: readonly PriorityLevelConfiguration[] = [
  level(exemptName, { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  level(catchAllName, {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
  }),
]

/** Schemas that are always there, and as they are here. */
export const mandatoryFlowSchemas: readonly FlowSchema[] = [
  schema(exemptName, exemptName, 1, undefined, { subjects: groups('system:masters'), ...everything }),
  schema(catchAllName, catchAllName, 10_000, 'ByUser', { subjects: everybody, ...everything }),
]

/** Levels that clusters begin with. */
export const suggestedPriorityLevels: readonly PriorityLevelConfiguration[] = [
  queued('system', 30, 33, 64, 6),
  queued('node-high', 40, 25, 64, 6),
  queued('leader-election', 10, 0, 16, 4),
  queued('workload-high', 40, 50, 128, 6),
  queued('workload-low', 100, 90, 128, 6),
  queued('global-default', 20, 50, 128, 6),
]

/** Schemas that clusters begin with. */
export const suggestedFlowSchemas: readonly FlowSchema[] = [
  schema('system-nodes', 'system', 500, 'ByUser', { subjects: groups('system:nodes'), ...everything }),
  schema('system-node-high', 'node-high', 400, 'ByUser', {
    subjects: groups('system:nodes'),
    resourceRules: [
      resources('', ['nodes', 'nodes/status'], { clusterScope: true }),
      resources('coordination.k8s.io', ['leases']),
    ],
  }),
  schema('probes', exemptName, 2, undefined, {
    subjects: everybody,
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
  }),
  schema('system-leader-election', 'leader-election', 100, 'ByUser', {
    subjects: [...users('system:kube-controller-manager', 'system:kube-scheduler'), ...kubeSystemAccounts],
    resourceRules: [resources('coordination.k8s.io', ['leases'], { verbs: ['get', 'create', 'update'] })],
  }),
  schema('kube-controller-manager', 'workload-high', 800, 'ByNamespace', {
    subjects: users('system:kube-controller-manager'),
    ...everything,
  }),
  schema('kube-scheduler', 'workload-high', 800, 'ByNamespace', {
    subjects: users('system:kube-scheduler'),
    ...everything,
  }),
  schema('kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', {
    subjects: kubeSystemAccounts,
    ...everything,
  }),
  schema('service-accounts', 'workload-low', 9000, 'ByUser', {
    subjects: groups('system:serviceaccounts'),
    ...everything,
  }),
  schema('global-default', 'global-default', 9900, 'ByUser', { subjects: everybody, ...everything }),
]
