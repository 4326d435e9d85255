/** What node agents answer over HTTPS, at the paths of kubelets. Loaded where an agent serves it. */
export {
  createKubeletServer,
  type KubeletServer,
  type KubeletServerOptions,
  kubeletPort,
} from './kubelet-server.ts'
export { connectToPod } from './relay.ts'
export type { NodeVolumes, ServedNode } from './served-node.ts'
