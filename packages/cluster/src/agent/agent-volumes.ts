import type { NodeVolumes } from '@coracle/kubelet/server'
import { localVolumes } from '../local-volumes.ts'

/** The directories of volumes on an agent's node, which the server has made and removed: below `dataDirectory`, or nowhere where the node is simulated. */
export function agentVolumes(nodeName: string, dataDirectory: string | undefined): NodeVolumes {
  const volumes = localVolumes((name) => name === nodeName, dataDirectory)
  return {
    create: (volumeName) => volumes.create(nodeName, volumeName),
    remove: (volumeName, path) => volumes.remove(nodeName, volumeName, path),
  }
}
