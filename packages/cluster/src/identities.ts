import type { User } from '@coracle/apiserver'

/** Who each component acts as: upstream's names, which upstream's default roles know too. */
export const identities = {
  admin: { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
  controllerManager: { name: 'system:kube-controller-manager', groups: ['system:authenticated'] },
  /** One agent speaks for all simulated nodes, so it has the rights of a node for each of them. */
  simulatedNodes: { name: 'system:simulated-nodes', groups: ['system:authenticated'] },
  /** The API server, as node agents see it. */
  kubeletClient: { name: 'kube-apiserver-kubelet-client', groups: ['system:authenticated'] },
  proxy: { name: 'system:kube-proxy', groups: ['system:authenticated'] },
  scheduler: { name: 'system:kube-scheduler', groups: ['system:authenticated'] },
} as const satisfies Readonly<Record<string, User>>

/** The identity of a node agent. */
export const nodeIdentity = (nodeName: string): User => ({
  name: `system:node:${nodeName}`,
  groups: ['system:nodes', 'system:authenticated'],
})

/** The identity of a controller: a service account of kube-system, as upstream's controllers have one each, or the manager itself. */
export const controllerIdentity = (userName: string): User =>
  userName === identities.controllerManager.name
    ? identities.controllerManager
    : {
        name: userName,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
      }
