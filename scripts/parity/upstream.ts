/**
 * What upstream consists of beside its kinds: names from cmd/kube-controller-manager/names/controller_names.go and
 * pkg/kubeapiserver/options/plugins.go (v1.36, kubernetes/kubernetes), each with what there is of it here.
 */

/** A part of upstream: where it is here, and how it differs, or why it is not there. */
export interface Part {
  readonly upstream: string
  /** Its name here, which the code must know; absent: it is not there. */
  readonly ours?: string
  /** What is different, or why it is missing. */
  readonly note?: string
}

const cloud = 'There is no cloud provider.'
const trustBundles = 'Trust bundles are not served: they are beta.'

const fairness =
  'Seats are lent at once, and each request takes one ([0070](decisions/0070-seats-are-lent-at-once.md)).'

export const controllers: readonly Part[] = [
  { upstream: 'bootstrap-signer-controller', ours: 'bootstrap-signer-controller' },
  {
    upstream: 'certificatesigningrequest-approving-controller',
    ours: 'certificatesigningrequest-approving-controller',
  },
  {
    upstream: 'certificatesigningrequest-cleaner-controller',
    ours: 'certificatesigningrequest-cleaner-controller',
  },
  {
    upstream: 'certificatesigningrequest-signing-controller',
    ours: 'certificatesigningrequest-signing-controller',
  },
  { upstream: 'cloud-node-lifecycle-controller', note: cloud },
  { upstream: 'clusterrole-aggregation-controller', ours: 'clusterrole-aggregation-controller' },
  { upstream: 'cronjob-controller', ours: 'cronjob-controller' },
  { upstream: 'daemonset-controller', ours: 'daemon-set-controller' },
  { upstream: 'deployment-controller', ours: 'deployment-controller' },
  { upstream: 'device-taint-eviction-controller', ours: 'device-taint-eviction-controller' },
  { upstream: 'disruption-controller', ours: 'disruption-controller' },
  { upstream: 'endpoints-controller', ours: 'endpoint-controller' },
  { upstream: 'endpointslice-controller', ours: 'endpointslice-controller' },
  { upstream: 'endpointslice-mirroring-controller', ours: 'endpointslicemirroring-controller' },
  { upstream: 'ephemeral-volume-controller', ours: 'ephemeral-volume-controller' },
  { upstream: 'garbage-collector-controller', ours: 'generic-garbage-collector' },
  { upstream: 'horizontal-pod-autoscaler-controller', ours: 'horizontal-pod-autoscaler' },
  { upstream: 'job-controller', ours: 'job-controller' },
  {
    upstream: 'legacy-serviceaccount-token-cleaner-controller',
    ours: 'legacy-serviceaccount-token-cleaner-controller',
  },
  { upstream: 'namespace-controller', ours: 'namespace-controller' },
  { upstream: 'node-ipam-controller', note: 'Simulated pods have addresses of one range, others those of their host.' },
  { upstream: 'node-lifecycle-controller', ours: 'node-controller' },
  { upstream: 'node-route-controller', note: cloud },
  { upstream: 'persistentvolume-attach-detach-controller', note: 'Volumes are paths of a node; nothing is attached.' },
  {
    upstream: 'persistentvolume-binder-controller',
    ours: 'persistent-volume-binder',
    note: 'No provisioner is in its tree, and nothing is recycled: such volumes go to Failed.',
  },
  {
    upstream: 'persistentvolume-expander-controller',
    ours: 'expand-controller',
    note: 'It tells who has to expand a volume: drivers of volumes bring a program that does.',
  },
  { upstream: 'persistentvolume-protection-controller', ours: 'pv-protection-controller' },
  { upstream: 'persistentvolumeclaim-protection-controller', ours: 'pvc-protection-controller' },
  { upstream: 'pod-garbage-collector-controller', ours: 'pod-garbage-collector' },
  { upstream: 'replicaset-controller', ours: 'replicaset-controller' },
  { upstream: 'replicationcontroller-controller', ours: 'replication-controller' },
  { upstream: 'resource-claim-controller', ours: 'resource-claim-controller' },
  { upstream: 'resourcequota-controller', ours: 'resourcequota-controller' },
  { upstream: 'root-ca-certificate-publisher-controller', ours: 'root-ca-cert-publisher' },
  { upstream: 'selinux-warning-controller', note: 'Security contexts are not enforced yet.' },
  { upstream: 'service-cidr-controller', ours: 'service-cidrs-controller' },
  { upstream: 'service-lb-controller', note: cloud },
  { upstream: 'serviceaccount-controller', ours: 'service-account-controller' },
  {
    upstream: 'serviceaccount-token-controller',
    ours: 'serviceaccount-token-controller',
    note: 'When a token was used last is not noted.',
  },
  { upstream: 'statefulset-controller', ours: 'statefulset-controller' },
  {
    upstream: 'taint-eviction-controller',
    ours: 'node-controller',
    note: 'One controller with the node lifecycle, as they were before 1.29; its events name it.',
  },
  { upstream: 'token-cleaner-controller', ours: 'token-cleaner-controller' },
  { upstream: 'ttl-after-finished-controller', ours: 'ttl-after-finished-controller' },
  { upstream: 'ttl-controller', note: 'It only tells old node agents for how long they may keep secrets.' },
  { upstream: 'validatingadmissionpolicy-status-controller', ours: 'validatingadmissionpolicy-status' },
  {
    upstream: 'volumeattributesclass-protection-controller',
    ours: 'volumeattributesclass-protection-controller',
  },
]

const off = 'Off by default'

export const admissionPlugins: readonly Part[] = [
  ...[
    'NamespaceLifecycle',
    'LimitRanger',
    'NodeRestriction',
    'TaintNodesByCondition',
    'PodSecurity',
    'Priority',
    'DefaultTolerationSeconds',
    'DefaultStorageClass',
    'StorageObjectInUseProtection',
    'PersistentVolumeClaimResize',
    'RuntimeClass',
    'CertificateApproval',
    'CertificateSigning',
    'CertificateSubjectRestriction',
    'DefaultIngressClass',
    'PodTopologyLabels',
    'NodeDeclaredFeatureValidator',
    'PodResizeValidator',
    'MutatingAdmissionPolicy',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionWebhook',
    'ResourceQuota',
  ].map((name) => ({ upstream: name, ours: name })),
  {
    upstream: 'ServiceAccount',
    ours: 'ServiceAccount',
    note: 'Pods get a volume with a token where a container runtime runs them; processes cannot have its path.',
  },
  { upstream: 'ClusterTrustBundleAttest', note: trustBundles },
  ...[
    'AlwaysAdmit',
    'AlwaysDeny',
    'AlwaysPullImages',
    'DenyServiceExternalIPs',
    'ExtendedResourceToleration',
    'LimitPodHardAntiAffinityTopology',
    'NamespaceAutoProvision',
    'NamespaceExists',
    'OwnerReferencesPermissionEnforcement',
  ].map((name) => ({ upstream: name, ours: name, note: `${off}.` })),
  ...['PodNodeSelector', 'PodTolerationRestriction'].map((name) => ({
    upstream: name,
    ours: name,
    note: `${off}. By annotations of namespaces; there is no file for the whole cluster.`,
  })),
  { upstream: 'EventRateLimit', note: `${off}. Its limits are in a file that kube-apiserver reads.` },
  { upstream: 'ImagePolicyWebhook', note: `${off}. Webhooks for admission and policies can do the same.` },
]

/** What is different about a kind, or why it is missing, by its version and plural. */
export const kindNotes: Readonly<Record<string, string>> = {
  'v1/componentstatuses': 'Of the components of the server that is asked.',
  'apiregistration.k8s.io/v1/apiservices': 'Streams that change the protocol do not go through to other servers.',
  'flowcontrol.apiserver.k8s.io/v1/flowschemas': fairness,
  'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations': fairness,
  'networking.k8s.io/v1/networkpolicies': 'Kept, and enforced by nobody.',
  'networking.k8s.io/v1/ingresses': 'Kept; traffic is a matter of an ingress controller, as upstream.',
  'resource.k8s.io/v1/deviceclasses': '`extendedResourceName` is kept, and gives containers nothing.',
  'resource.k8s.io/v1/resourceclaims': 'Nodes have no drivers ([0067](decisions/0067-devices-without-drivers.md)).',
}
