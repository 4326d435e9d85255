import type { LocalVolumes } from '@coracle/controllers'
import { LocalVolumeDirectories } from '@coracle/kubelet'

/** What volumes on simulated nodes say they are: nothing is made there. */
const simulatedDirectory = '/var/lib/coracle/volumes'

/** The directories of volumes on this process's nodes: below `dataDirectory`, or nowhere where nodes are simulated. */
export function localVolumes(isOwn: (nodeName: string) => boolean, dataDirectory: string | undefined): LocalVolumes {
  if (dataDirectory === undefined) {
    return { isOwn, create: async (_, name) => `${simulatedDirectory}/${name}`, remove: async () => {} }
  }
  const directories = new LocalVolumeDirectories(dataDirectory)
  return {
    isOwn,
    create: (node, name) => directories.create(node, name),
    remove: (node, name, path) => directories.remove(node, name, path),
  }
}
