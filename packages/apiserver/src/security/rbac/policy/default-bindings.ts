/** A ClusterRoleBinding that every cluster has. */
export interface DefaultClusterRoleBinding {
  readonly name: string
  /** The ClusterRole; the one of its own name unless given. */
  readonly role?: string
  readonly users?: readonly string[]
  readonly groups?: readonly string[]
  /** Names of service accounts in kube-system. */
  readonly accounts?: readonly string[]
}

const authenticated = 'system:authenticated'

/** Upstream's bindings of the roles of people and components, at 1.36. */
export const defaultBindings: readonly DefaultClusterRoleBinding[] = [
  { name: 'cluster-admin', groups: ['system:masters'] },
  { name: 'system:basic-user', groups: [authenticated] },
  { name: 'system:discovery', groups: [authenticated] },
  { name: 'system:kube-controller-manager', users: ['system:kube-controller-manager'] },
  { name: 'system:kube-dns', accounts: ['kube-dns'] },
  { name: 'system:kube-scheduler', users: ['system:kube-scheduler'] },
  { name: 'system:monitoring', groups: ['system:monitoring'] },
  // Nobody: what a node agent may do hangs on its pods, and the Node authorizer decides about it.
  { name: 'system:node' },
  { name: 'system:node-proxier', users: ['system:kube-proxy'] },
  { name: 'system:public-info-viewer', groups: [authenticated, 'system:unauthenticated'] },
  { name: 'system:service-account-issuer-discovery', groups: ['system:serviceaccounts'] },
  { name: 'system:volume-scheduler', users: ['system:kube-scheduler'] },
]
