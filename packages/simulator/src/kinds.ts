import {
  configMaps,
  cronJobs,
  daemonSets,
  deployments,
  deviceClasses,
  horizontalPodAutoscalers,
  jobs,
  type KubernetesObject,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  priorityClasses,
  type Resource,
  replicaSets,
  replicationControllers,
  resourceClaims,
  resourceClaimTemplates,
  resourceQuotas,
  resourceSlices,
  services,
  statefulSets,
} from '@coracle/api'

/** The namespaces in which things happen. The first is always there. */
export const namespaceNames = ['default', 'team'] as const

/** The kinds of objects that keep pods. */
export const workloadKinds = ['ReplicationController', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet'] as const

/** A custom kind without a controller: it owns and is owned. */
export const gadgets: Resource = {
  group: 'example.dev',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  namespaced: true,
}

/** Defines gadgets. */
export const gadgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.dev' },
  spec: {
    group: gadgets.group,
    scope: 'Namespaced',
    names: { plural: gadgets.plural, singular: 'gadget', kind: gadgets.kind, listKind: 'GadgetList' },
    versions: [
      {
        name: gadgets.version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
} as const

/** The kinds that operations are about. */
const resources = {
  ReplicationController: replicationControllers,
  ReplicaSet: replicaSets,
  Deployment: deployments,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
  Job: jobs,
  CronJob: cronJobs,
  PodDisruptionBudget: podDisruptionBudgets,
  ResourceQuota: resourceQuotas,
  Service: services,
  HorizontalPodAutoscaler: horizontalPodAutoscalers,
  PersistentVolume: persistentVolumes,
  PersistentVolumeClaim: persistentVolumeClaims,
  DeviceClass: deviceClasses,
  ResourceSlice: resourceSlices,
  ResourceClaimTemplate: resourceClaimTemplates,
  ResourceClaim: resourceClaims,
  ConfigMap: configMaps,
  PriorityClass: priorityClasses,
  Namespace: namespaces,
  Node: nodes,
  Pod: pods,
  Gadget: gadgets,
} as const

export type Kind = keyof typeof resources

/** How objects of a kind are reached. */
export const resourceOf = (kind: Kind): Resource<KubernetesObject> => resources[kind] as Resource<KubernetesObject>

/** Whether operations are about a kind. */
export const isKind = (kind: string | undefined): kind is Kind => kind !== undefined && Object.hasOwn(resources, kind)

/** Whether a kind keeps a number of pods that can be set. */
export const isScalable = (kind: Kind): boolean =>
  kind === 'ReplicationController' || kind === 'ReplicaSet' || kind === 'Deployment' || kind === 'StatefulSet'
