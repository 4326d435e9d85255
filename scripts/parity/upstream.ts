/**
 * What upstream consists of beside its kinds: names from cmd/kube-controller-manager/names/controller_names.go and
 * pkg/kubeapiserver/options/plugins.go (v1.36, kubernetes/kubernetes), each with what there is of it here.
 */
import { controllerNames } from '@coracle/controllers/names'

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

const fairness = 'Seats are lent at once ([0070](decisions/0070-seats-are-lent-at-once.md)).'

/** What is different about a controller, or why there is none for it. */
const controllerNotes: Readonly<Record<string, string>> = {
  'cloud-node-lifecycle-controller': cloud,
  'node-ipam-controller':
    'Simulated pods have addresses of one range, processes of a range of their node’s on loopback, containers those of their node’s network plugin.',
  'node-route-controller': cloud,
  'persistentvolume-binder-controller':
    'No provisioner is in its tree, and nothing is recycled: such volumes go to Failed.',
  'persistentvolume-expander-controller':
    'It tells who has to expand a volume: drivers of volumes bring a program that does.',
  'selinux-warning-controller': 'Volumes are not mounted with labels of SELinux.',
  'service-lb-controller':
    'There is no cloud provider: services get addresses of nodes where `--load-balancer-addresses nodes` says so, else none ([0083](decisions/0083-addresses-of-nodes-for-load-balancers.md)).',
  'taint-eviction-controller': 'One controller with the node lifecycle, as they were before 1.29; its events name it.',
  'ttl-controller': 'It only tells old node agents for how long they may keep secrets.',
}

/** A controller with several parts here is where the first of them is. */
export const controllers: readonly Part[] = controllerNames.map(({ name, runs: [ours] }) => {
  const note = controllerNotes[name]
  return { upstream: name, ...(ours === undefined ? {} : { ours }), ...(note === undefined ? {} : { note }) }
})

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
    note: 'A pod of the account `default` whose containers are processes gets a volume with a token if it asks for one ([0057](decisions/0057-tokens-for-accounts-of-their-own.md)).',
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
  'flowcontrol.apiserver.k8s.io/v1/flowschemas': fairness,
  'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations': fairness,
  'networking.k8s.io/v1/networkpolicies':
    'Kept, and enforced by the network plugin of container runtimes where that does, as upstream; for processes by nobody.',
  'networking.k8s.io/v1/ingresses': 'Kept; traffic is a matter of an ingress controller, as upstream.',
  'resource.k8s.io/v1/deviceclasses': '`extendedResourceName` is kept, and gives containers nothing.',
  'resource.k8s.io/v1/resourceclaims':
    'Drivers prepare them on nodes of container runtimes; simulated nodes run pods as if they had, and processes have no devices ([0087](decisions/0087-drivers-of-devices.md)).',
}
