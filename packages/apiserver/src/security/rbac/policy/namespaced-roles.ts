import { events, type RuleLine } from './rule-lines.ts'

/** A Role that every cluster has in one of its first namespaces, and the users and service accounts that it is bound to. */
export interface DefaultRole {
  readonly namespace: 'kube-public' | 'kube-system'
  readonly name: string
  readonly rules: readonly RuleLine[]
  /** That of the role unless given. */
  readonly bindingName?: string
  readonly users?: readonly string[]
  /** Names of service accounts in kube-system. */
  readonly accounts?: readonly string[]
}

const controllerManager = 'system:kube-controller-manager'
const scheduler = 'system:kube-scheduler'

/** What those do that want to lead, coordinated leader election (KEP-4355) included. */
const leaderElection: readonly RuleLine[] = [
  'read,create,update coordination.k8s.io leases',
  'read,create,update coordination.k8s.io leasecandidates',
]

/** Upstream's bootstrappolicy/namespace_policy.go, at 1.36. */
export const namespacedRoles: readonly DefaultRole[] = [
  {
    namespace: 'kube-public',
    name: 'system:controller:bootstrap-signer',
    rules: ['read core configmaps', 'update core configmaps cluster-info', events],
    accounts: ['bootstrap-signer'],
  },
  {
    namespace: 'kube-system',
    name: 'extension-apiserver-authentication-reader',
    rules: ['read core configmaps extension-apiserver-authentication'],
    bindingName: 'system::extension-apiserver-authentication-reader',
    users: [controllerManager, scheduler],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-controller-manager',
    rules: leaderElection,
    users: [controllerManager],
    accounts: ['kube-controller-manager', 'leader-election-controller'],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-scheduler',
    rules: leaderElection,
    users: [scheduler],
    accounts: ['kube-scheduler'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:bootstrap-signer',
    rules: ['read core secrets'],
    accounts: ['bootstrap-signer'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:cloud-provider',
    rules: ['read,create core configmaps'],
    accounts: ['cloud-provider'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:token-cleaner',
    rules: ['read,delete core secrets', events],
    accounts: ['token-cleaner'],
  },
]
