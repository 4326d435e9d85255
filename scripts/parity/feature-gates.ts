/**
 * What upstream's feature gates that are generally available bring (`upstream-gates.ts`), and what there is of it here.
 */

export interface FeatureGate {
  readonly name: string
  /** The version it is generally available from. */
  readonly since: string
  /** The file that does it, from the root of the repository; absent: it is not there. */
  readonly where?: string
  /** What is different, or why it is missing. */
  readonly note?: string
}

const hostOnly =
  'It is about how containers share a machine, which is left to the operating system and the container runtime.'
const windows = 'Nodes are Linux.'
const podResources = 'A node agent does not tell other programs of its node which devices pods have.'
const selinux = 'The labels of pods are passed to container runtimes; volumes are not mounted with them.'
const tracing = 'Spans are not exported; causes tell what led to what.'

export const featureGates: readonly FeatureGate[] = [
  { name: 'AllowServiceExternalIPs', since: '1.0', where: 'packages/proxy/src/frontends.ts' },
  {
    name: 'AnonymousAuthConfigurableEndpoints',
    since: '1.34',
    where: 'packages/apiserver/src/security/trusted-issuers/trusted-issuers.ts',
  },
  {
    name: 'AnyVolumeDataSource',
    since: '1.33',
    where: 'packages/api/src/kinds/core/persistent-volume-claim/validation.ts',
  },
  { name: 'APIServerTracing', since: '1.34', note: tracing },
  { name: 'AuthorizeNodeWithSelectors', since: '1.34', where: 'packages/apiserver/src/security/node-authorizer.ts' },
  { name: 'AuthorizeWithSelectors', since: '1.34', where: 'packages/apiserver/src/reviews/access-reviews.ts' },
  {
    name: 'BtreeWatchCache',
    since: '1.33',
    where: 'packages/apiserver/src/watch-cache/ordered-map.ts',
  },
  { name: 'ConsistentListFromCache', since: '1.34', where: 'packages/apiserver/src/watch-cache/store-feed.ts' },
  { name: 'CPUCFSQuotaPeriod', since: '1.36', note: 'Quotas count for 100 ms, upstream’s default.' },
  { name: 'CPUManagerPolicyOptions', since: '1.33', note: hostOnly },
  { name: 'CRDValidationRatcheting', since: '1.33', where: 'packages/apiserver/src/registry/validation.ts' },
  { name: 'CSIServiceAccountTokenSecrets', since: '1.36', where: 'packages/csi/src/volumes/bring-volume.ts' },
  { name: 'CustomResourceFieldSelectors', since: '1.32', where: 'packages/api/src/custom/custom-kind.ts' },
  {
    name: 'DeclarativeValidation',
    since: '1.36',
    where: 'packages/api/src/schema/validate.ts',
    note: 'Rules have always stood in the schemas of kinds.',
  },
  {
    name: 'DisableAllocatorDualWrite',
    since: '1.34',
    where: 'packages/apiserver/src/services/service-allocator.ts',
    note: 'Addresses have only ever been IPAddress objects.',
  },
  { name: 'DRAAdminAccess', since: '1.36', where: 'packages/apiserver/src/device-claims/claim-rights.ts' },
  { name: 'DRAPrioritizedList', since: '1.36', where: 'packages/scheduler/src/devices/allocator.ts' },
  {
    name: 'DynamicResourceAllocation',
    since: '1.34',
    where: 'packages/scheduler/src/plugins/dynamic-resources.ts',
    note: 'With drivers on nodes of container runtimes; simulated ones run pods as if they had.',
  },
  { name: 'ExecProbeTimeout', since: '1.20', where: 'packages/kubelet/src/probes/handlers.ts' },
  {
    name: 'ExternalServiceAccountTokenSigner',
    since: '1.36',
    note: 'Tokens are signed with a key of the data directory.',
  },
  {
    name: 'ImageMaximumGCAge',
    since: '1.35',
    where: 'packages/kubelet/src/images/plan-image-removal.ts',
    note: 'An option: `--image-maximum-gc-age`.',
  },
  {
    name: 'ImageVolume',
    since: '1.36',
    where: 'packages/kubelet/src/runtimes/cri/image-volumes.ts',
    note: 'With runtimes over CRI that mount images.',
  },
  { name: 'InformerResourceVersion', since: '1.35', where: 'packages/client/src/informer.ts' },
  { name: 'InOrderInformers', since: '1.36', where: 'packages/client/src/reflector.ts' },
  { name: 'InPlacePodVerticalScaling', since: '1.35', where: 'packages/kubelet/src/pod/pod-resize.ts' },
  { name: 'JobBackoffLimitPerIndex', since: '1.33', where: 'packages/controllers/src/job/index-failures.ts' },
  { name: 'JobManagedBy', since: '1.35', where: 'packages/controllers/src/job/plan.ts' },
  { name: 'JobPodReplacementPolicy', since: '1.34', where: 'packages/controllers/src/job/job-pods.ts' },
  { name: 'JobSuccessPolicy', since: '1.33', where: 'packages/controllers/src/job/success-policy.ts' },
  {
    name: 'KubeletCgroupDriverFromCRI',
    since: '1.34',
    note: 'Containers have no parent cgroup that would depend on the driver.',
  },
  { name: 'KubeletFineGrainedAuthz', since: '1.36', where: 'packages/kubelet/src/server/authorization.ts' },
  { name: 'KubeletPodResourcesDynamicResources', since: '1.36', note: podResources },
  { name: 'KubeletPodResourcesGet', since: '1.36', note: podResources },
  { name: 'KubeletPSI', since: '1.36', where: 'packages/kubelet/src/usage/pressure.ts' },
  { name: 'KubeletTracing', since: '1.34', note: tracing },
  { name: 'LogarithmicScaleDown', since: '1.31', where: 'packages/controllers/src/pods/deletion-ranking.ts' },
  { name: 'MatchLabelKeysInPodAffinity', since: '1.33', where: 'packages/api/src/kinds/core/pod/pod-strategy.ts' },
  { name: 'MultiCIDRServiceAllocator', since: '1.33', where: 'packages/apiserver/src/services/service-allocator.ts' },
  {
    name: 'MutableCSINodeAllocatableCount',
    since: '1.36',
    where: 'packages/csi/src/registration/allocatable-updates.ts',
  },
  {
    name: 'MutatingAdmissionPolicy',
    since: '1.36',
    where: 'packages/apiserver/src/admission/policies/mutating-policies.ts',
  },
  { name: 'NFTablesProxyMode', since: '1.33', note: 'The service proxy is a program, and sets up no packet filter.' },
  {
    name: 'NodeInclusionPolicyInPodTopologySpread',
    since: '1.33',
    where: 'packages/scheduler/src/plugins/spread-constraints.ts',
  },
  { name: 'NodeLogQuery', since: '1.36', note: 'Logs of services of the node are not shown.' },
  { name: 'NodeSwap', since: '1.34', note: hostOnly },
  { name: 'OrderedNamespaceDeletion', since: '1.34', where: 'packages/controllers/src/namespace/content.ts' },
  { name: 'PodLifecycleSleepAction', since: '1.34', where: 'packages/kubelet/src/pod/lifecycle-hooks.ts' },
  { name: 'PodLifecycleSleepActionAllowZero', since: '1.34', where: 'packages/kubelet/src/pod/lifecycle-hooks.ts' },
  { name: 'PodObservedGenerationTracking', since: '1.35', where: 'packages/kubelet/src/status/pod-status.ts' },
  { name: 'PodSchedulingReadiness', since: '1.30', where: 'packages/scheduler/src/scheduler.ts' },
  {
    name: 'PreferSameTrafficDistribution',
    since: '1.35',
    where: 'packages/controllers/src/endpoint-slice/plan.ts',
  },
  { name: 'ProcMountType', since: '1.36', where: 'packages/kubelet/src/isolation/security.ts' },
  {
    name: 'RecoverVolumeExpansionFailure',
    since: '1.34',
    where: 'packages/api/src/kinds/core/persistent-volume-claim/validation.ts',
    note: 'The rules for what may be asked; local paths have no size to grow.',
  },
  {
    name: 'RecursiveReadOnlyMounts',
    since: '1.33',
    where: 'packages/kubelet/src/isolation/recursive-read-only.ts',
    note: 'With container runtimes that can.',
  },
  { name: 'RelaxedDNSSearchValidation', since: '1.34', where: 'packages/api/src/kinds/core/pod/pod-validation.ts' },
  {
    name: 'RelaxedEnvironmentVariableValidation',
    since: '1.34',
    where: 'packages/api/src/kinds/core/pod/validation/env.ts',
  },
  {
    name: 'ResilientWatchCacheInitialization',
    since: '1.34',
    where: 'packages/apiserver/src/watch-cache/store-feed.ts',
    note: 'A server that reads its caches is not ready, and takes no requests.',
  },
  { name: 'RetryGenerateName', since: '1.32', where: 'packages/apiserver/src/registry/object-creation.ts' },
  { name: 'SchedulerQueueingHints', since: '1.34', where: 'packages/scheduler/src/scheduling-queue.ts' },
  { name: 'SELinuxChangePolicy', since: '1.36', note: selinux },
  { name: 'SELinuxMountReadWriteOncePod', since: '1.36', note: selinux },
  {
    name: 'SeparateTaintEvictionController',
    since: '1.34',
    where: 'packages/controllers/src/node-lifecycle/controller.ts',
    note: 'One controller evicts and looks after nodes.',
  },
  {
    name: 'ServiceAccountTokenJTI',
    since: '1.32',
    where: 'packages/apiserver/src/service-account-tokens/token-claims.ts',
  },
  { name: 'ServiceAccountTokenNodeBinding', since: '1.33', where: 'packages/apiserver/src/subresources/token.ts' },
  {
    name: 'ServiceAccountTokenNodeBindingValidation',
    since: '1.32',
    where: 'packages/apiserver/src/service-account-tokens/service-account-tokens.ts',
  },
  {
    name: 'ServiceAccountTokenPodNodeInfo',
    since: '1.32',
    where: 'packages/apiserver/src/service-account-tokens/service-account-tokens.ts',
  },
  { name: 'SidecarContainers', since: '1.33', where: 'packages/kubelet/src/pod/plan-pod.ts' },
  {
    name: 'StreamingCollectionEncodingToJSON',
    since: '1.34',
    where: 'packages/apiserver/src/http/representation/list-writer.ts',
    note: 'Lists are written object by object, each made once for all who ask.',
  },
  {
    name: 'StreamingCollectionEncodingToProtobuf',
    since: '1.34',
    where: 'packages/apiserver/src/http/protobuf.ts',
    note: 'As in JSON.',
  },
  {
    name: 'StructuredAuthenticationConfiguration',
    since: '1.34',
    where: 'packages/apiserver/src/security/trusted-issuers/trusted-issuers.ts',
    note: 'Claims that an issuer says are elsewhere (distributed claims) are not fetched.',
  },
  {
    name: 'SupplementalGroupsPolicy',
    since: '1.35',
    where: 'packages/kubelet/src/isolation/security.ts',
    note: 'On processes, and with container runtimes that can.',
  },
  {
    name: 'SystemdWatchdog',
    since: '1.35',
    where: 'packages/cli/src/up/service-manager.ts',
  },
  { name: 'TopologyManagerPolicyOptions', since: '1.32', note: hostOnly },
  {
    name: 'UserNamespacesSupport',
    since: '1.36',
    where: 'packages/kubelet/src/runtimes/cri/user-namespaces.ts',
    note: 'With runtimes over CRI that can.',
  },
  {
    name: 'VolumeAttributesClass',
    since: '1.34',
    where: 'packages/controllers/src/persistent-volume-binder/plan.ts',
    note: 'Claims and volumes match by it; nothing modifies volumes.',
  },
  { name: 'WinDSR', since: '1.34', note: windows },
  { name: 'WinOverlay', since: '1.34', note: windows },
]
