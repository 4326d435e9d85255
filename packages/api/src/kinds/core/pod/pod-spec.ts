import {
  atomicList,
  boolean,
  enumOf,
  exactInt64,
  int32,
  int64,
  literal,
  mapOf,
  object,
  optional,
  pointer,
  quantity,
  required,
  string,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { localObjectReference } from '../common.ts'
import { affinity } from './affinity.ts'
import { container, ephemeralContainer } from './container.ts'
import { keyedList } from './lists.ts'
import { resourcesWithout } from './resources.ts'
import {
  podReadinessGate,
  podSchedulingGate,
  podSchedulingGroup,
  toleration,
  topologySpreadConstraint,
} from './scheduling.ts'
import { podSecurityContext } from './security.ts'
import { volume } from './volume.ts'

/** The scheduler that takes pods which name none. */
export const schedulerNameDefault = 'default-scheduler'

/** Seconds a pod gets to end unless it says otherwise. */
export const terminationGracePeriodSecondsDefault = 30

export interface HostAlias extends Infer<typeof hostAlias> {}
export const hostAlias = object(`${coreV1}.HostAlias`, 'A line of the hosts file.', {
  ip: required(string(), 'The address.', { default: '' }),
  hostnames: optional(atomicList(string()), 'Names that stand for it.'),
})

export interface PodDnsConfigOption extends Infer<typeof podDnsConfigOption> {}
export const podDnsConfigOption = object(`${coreV1}.PodDNSConfigOption`, 'An option of the resolver.', {
  name: optional(string(), 'Name of the option.'),
  value: pointer(string(), 'Its value, where it takes one.'),
})

export interface PodDnsConfig extends Infer<typeof podDnsConfig> {}
export const podDnsConfig = object(
  `${coreV1}.PodDNSConfig`,
  'How names are resolved, beside what the DNS policy gives.',
  {
    nameservers: optional(atomicList(string()), 'Addresses of name servers, added to those of the policy. At most 3.'),
    searches: optional(atomicList(string()), 'Search domains, added to those of the policy. At most 32.'),
    options: optional(atomicList(podDnsConfigOption), 'Options of the resolver. They win over those of the policy.'),
  },
)

export interface PodOs extends Infer<typeof podOs> {}
export const podOs = object(`${coreV1}.PodOS`, 'The operating system of the pod.', {
  name: required(literal<'linux' | 'windows'>(), 'Its name.'),
})

export interface PodResourceClaim extends Infer<typeof podResourceClaim> {}
export const podResourceClaim = object(
  `${coreV1}.PodResourceClaim`,
  'A claim on dynamically allocated resources: an existing one, or one made from a template.',
  {
    name: required(string(), 'Name by which containers refer to it, unique in the pod.'),
    resourceClaimName: pointer(string(), 'Name of a ResourceClaim in the pod’s namespace.'),
    resourceClaimTemplateName: pointer(string(), 'Name of a ResourceClaimTemplate in the pod’s namespace.'),
  },
)

export interface PodSpec extends Infer<typeof podSpec> {}
export const podSpec = object(
  `${coreV1}.PodSpec`,
  'Containers, volumes and where they may run.',
  {
    containers: required(
      keyedList(container, ['name']),
      'Containers that run side by side; at least one. They cannot be added or removed later.',
    ),
    initContainers: optional(
      keyedList(container, ['name']),
      'Containers that run one after the other before the rest start. Those that restart Always keep running beside it.',
    ),
    ephemeralContainers: optional(
      keyedList(ephemeralContainer, ['name']),
      'Containers added to the running pod to look around in it, through the ephemeralcontainers subresource.',
    ),
    volumes: optional(
      keyedList(volume, ['name'], { patchStrategy: 'merge,retainKeys' }),
      'Volumes that containers can mount.',
    ),
    restartPolicy: optional(enumOf('Always', 'OnFailure', 'Never'), 'When containers that end are started again.', {
      default: 'Always',
    }),
    terminationGracePeriodSeconds: pointer(
      exactInt64(),
      'Seconds between the request to end and the kill. 0 kills at once.',
      {
        default: terminationGracePeriodSecondsDefault,
      },
    ),
    activeDeadlineSeconds: pointer(int64(), 'Seconds after its start at which the pod is ended and has failed.'),
    dnsPolicy: optional(
      enumOf('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'),
      "Which name servers are asked: the cluster's, the node's, or only those of dnsConfig.",
      { default: 'ClusterFirst' },
    ),
    dnsConfig: optional(podDnsConfig, 'Name servers, search domains and options beside those of the policy.'),
    nodeSelector: optional(mapOf(string(), { mapType: 'atomic' }), 'Labels a node must have to run the pod.'),
    nodeName: optional(
      string(),
      'The node the pod runs on: filled in by the scheduler. Set it to go past the scheduler.',
    ),
    serviceAccountName: optional(string(), 'Name of the service account the pod runs as.'),
    serviceAccount: optional(string(), 'The old name of serviceAccountName.'),
    automountServiceAccountToken: pointer(boolean, 'Whether containers get a token of the service account.'),
    hostNetwork: optional(boolean, 'Use the network of the node. Host ports are then the container ports.'),
    hostPID: optional(boolean, 'Use the process namespace of the node.'),
    hostIPC: optional(boolean, 'Use the IPC namespace of the node.'),
    hostUsers: pointer(boolean, 'Use the user namespace of the node. False gives the pod its own; true unless set.'),
    shareProcessNamespace: pointer(
      boolean,
      'Let the containers see each other’s processes. Not together with hostPID.',
    ),
    securityContext: pointer(
      podSecurityContext,
      'Security settings of the whole pod, and defaults for its containers.',
      {
        default: {},
      },
    ),
    imagePullSecrets: optional(keyedList(localObjectReference, ['name']), 'Secrets with which images are pulled.'),
    hostname: optional(string(), 'Host name of the pod; its own name unless set.'),
    hostnameOverride: pointer(
      string(),
      'Host name of the pod as it stands, without a domain. Not together with hostNetwork.',
    ),
    subdomain: optional(string(), 'Domain of the host name below the namespace.'),
    setHostnameAsFQDN: pointer(boolean, 'Let the kernel’s host name be the full one. False unless set.'),
    affinity: optional(affinity, 'Where the pod wants to run.'),
    schedulerName: optional(string(), 'The scheduler that places the pod.', { default: schedulerNameDefault }),
    tolerations: optional(atomicList(toleration), 'Taints of nodes that do not keep the pod away.'),
    hostAliases: optional(keyedList(hostAlias, ['ip']), 'Lines added to the hosts file.'),
    priorityClassName: optional(string(), 'Name of the PriorityClass that gives the priority.'),
    priority: pointer(int32(), 'The higher, the more important. Filled in from the priority class.'),
    preemptionPolicy: pointer(
      literal<'PreemptLowerPriority' | 'Never'>(),
      'Whether less important pods may be removed to make room. PreemptLowerPriority unless set.',
    ),
    readinessGates: optional(
      atomicList(podReadinessGate),
      'Further conditions that must be True for the pod to be ready.',
    ),
    runtimeClassName: pointer(string(), 'Name of the RuntimeClass the pod runs with.'),
    enableServiceLinks: pointer(boolean, 'Give containers variables with the addresses of services. True unless set.'),
    overhead: optional(
      mapOf(quantity),
      'What running the pod costs beside its containers. Filled in from the runtime class.',
    ),
    topologySpreadConstraints: optional(
      keyedList(topologySpreadConstraint, ['topologyKey', 'whenUnsatisfiable']),
      'How evenly pods are spread over groups of nodes. All must hold.',
    ),
    os: optional(podOs, 'The operating system the pod needs. Some fields are only allowed with one of them.'),
    schedulingGates: optional(
      keyedList(podSchedulingGate, ['name']),
      'The pod is not scheduled while there are any. They can only be set on creation, and then removed.',
    ),
    schedulingGroup: optional(podSchedulingGroup, 'The group of pods this one is scheduled with.'),
    resourceClaims: optional(
      keyedList(podResourceClaim, ['name'], { patchStrategy: 'merge,retainKeys' }),
      'Dynamically allocated resources the pod needs before it starts.',
    ),
    resources: optional(resourcesWithout('claims'), 'What all containers together need and may use.'),
  },
  {
    checkedOrder: [
      'volumes',
      'resourceClaims',
      'containers',
      'initContainers',
      'ephemeralContainers',
      'resources',
      'restartPolicy',
      'dnsPolicy',
      'nodeSelector',
      'securityContext',
      'imagePullSecrets',
      'affinity',
      'dnsConfig',
      'readinessGates',
      'schedulingGates',
      'topologySpreadConstraints',
      'serviceAccountName',
      'nodeName',
      'activeDeadlineSeconds',
      'hostname',
      'subdomain',
      'hostnameOverride',
      'priorityClassName',
      'runtimeClassName',
      'tolerations',
      'hostAliases',
      'preemptionPolicy',
      'overhead',
      'os',
    ],
  },
)

/** An absent spec is an empty one, so that it is its containers that are missed. */
export const emptyPodSpec = {} as PodSpec
