/**
 * What names of nodes begin with where it is not said. Servers that share their objects have nodes by the names of their hosts, which may
 * have capitals; names of nodes may not, and a kubelet writes them small.
 */
export const defaultNodePrefix = (isShared: boolean, hostName: string): string =>
  isShared ? `${hostName.toLowerCase()}-` : 'node-'
