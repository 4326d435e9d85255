/** What node agents answer over HTTP, at the paths of kubelets. Loaded where it is asked for. */
export {
  createKubeletServer,
  type KubeletServer,
  type KubeletServerOptions,
  kubeletPort,
} from './kubelet-server.ts'
export { createLocalAgent, type LocalAgent } from './local-agent.ts'
export { connectToPod } from './relay.ts'
export type { NodeVolumes, ServedNode } from './served-node.ts'
