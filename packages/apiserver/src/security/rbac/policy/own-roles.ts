import { nodeBootstrappersGroup } from '@coracle/api'
import type { DefaultClusterRole } from './component-roles.ts'
import type { DefaultClusterRoleBinding } from './default-bindings.ts'
import type { DefaultRole } from './namespaced-roles.ts'
import { events, type RuleLine } from './rule-lines.ts'

/** A role of this program's own, and who has it. */
interface OwnRole extends Pick<DefaultClusterRoleBinding, 'users' | 'groups' | 'accounts'> {
  readonly name: string
  readonly rules: readonly RuleLine[]
}

/** What a controller needs that upstream's role of its name does not have, or all of a controller that upstream has not. */
const further = (account: string, ...rules: readonly RuleLine[]): OwnRole => ({
  name: `coracle:controller:${account}`,
  accounts: [account],
  rules,
})

/** What the components of this program may do beyond upstream's default roles. Upstream's are left as they are. */
const roles: readonly OwnRole[] = [
  // One agent for all simulated nodes: no node of its own that the Node authorizer could hold it to.
  {
    name: 'coracle:simulated-nodes',
    users: ['system:simulated-nodes'],
    rules: [
      'read core nodes,pods',
      'create,change core nodes',
      'change core nodes/status,pods/status',
      'delete core pods',
      'get core configmaps,persistentvolumeclaims,persistentvolumes,secrets',
      'get resource.k8s.io resourceclaims',
      'get,create,change coordination.k8s.io leases',
      events,
    ],
  },
  // The service proxy of a machine runs with its agent, as that, and so does what answers names: they see services and what is behind them.
  {
    name: 'coracle:node-proxier',
    groups: ['system:nodes'],
    users: ['system:kube-proxy'],
    rules: [
      'list,watch core endpoints,namespaces,services',
      'list,watch discovery.k8s.io endpointslices',
      'list,watch networking.k8s.io servicecidrs',
    ],
  },
  // Upstream's servers have these controllers in themselves, or as an addition.
  further(
    'custom-resource-definition',
    'update apiextensions.k8s.io customresourcedefinitions/status',
    'list,deletecollection * *',
    events,
  ),
  further(
    'local-path-provisioner',
    'read core namespaces,persistentvolumeclaims',
    'patch core persistentvolumeclaims',
    'read,create,change,delete core persistentvolumes',
    'read,create storage.k8s.io storageclasses',
    'get,create core configmaps',
    events,
  ),
  // Upstream's write the whole object where ours say what changes.
  further('persistent-volume-binder', 'patch core persistentvolumes,persistentvolumes/status,persistentvolumeclaims'),
  further('pv-protection-controller', 'patch core persistentvolumes'),
  further('pvc-protection-controller', 'patch core persistentvolumeclaims'),
  further('volumeattributesclass-protection-controller', 'patch storage.k8s.io volumeattributesclasses'),
  // Upstream's has a cloud that knows which nodes have endpoints, and whose ports are whose.
  further('service-controller', 'list,watch core pods', 'list,watch discovery.k8s.io endpointslices'),
  further('statefulset-controller', 'patch core persistentvolumeclaims'),
  // Upstream leaves the certificates of kubelets' servers to administrators.
  further(
    'certificate-controller',
    'approve certificates.k8s.io signers kubernetes.io/kubelet-serving',
    'list networking.k8s.io servicecidrs',
    'get core endpoints',
  ),
  // The count of a quota is only good where the quota was not charged meanwhile: that is asked of the server, not of a cache.
  further('resourcequota-controller', 'get core resourcequotas'),
]

export const ownRoles: readonly DefaultClusterRole[] = roles.map(({ name, rules }) => ({ name, rules }))

/** Which cluster this is, everybody may know: machines that are to join it have nothing to show yet. As kubeadm has it. */
export const ownNamespacedRoles: readonly DefaultRole[] = [
  {
    namespace: 'kube-public',
    name: 'coracle:cluster-info',
    rules: ['get core configmaps cluster-info'],
    users: ['system:anonymous'],
  },
]

export const ownBindings: readonly DefaultClusterRoleBinding[] = [
  ...roles.map(({ rules: _rules, ...binding }) => binding),
  // As kubeadm does: the API server asks node agents for logs, commands and ports.
  {
    name: 'coracle:kubelet-api-admin',
    role: 'system:kubelet-api-admin',
    users: ['kube-apiserver-kubelet-client'],
  },
  // As kubeadm does: who has a bootstrap token for nodes may ask for the certificate of a node, and gets it.
  {
    name: 'coracle:node-bootstrapper',
    role: 'system:node-bootstrapper',
    groups: [nodeBootstrappersGroup],
  },
  {
    name: 'coracle:node-autoapprove-bootstrap',
    role: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    groups: [nodeBootstrappersGroup],
  },
  // As kubeadm does: node agents renew their own certificates without asking anybody.
  {
    name: 'coracle:node-autoapprove-certificate-rotation',
    role: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    groups: ['system:nodes'],
  },
]
