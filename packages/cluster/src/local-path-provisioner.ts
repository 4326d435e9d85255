import type { ConnectionLink } from '@coracle/client'
import { createManager } from '@coracle/controller-runtime'
import { createLocalPathProvisioner, type LocalVolumes, localPathProvisionerIdentity } from '@coracle/controllers'
import { LocalVolumeDirectories } from '@coracle/kubelet'
import type { Started } from './component.ts'
import { controllerIdentity } from './identities.ts'
import type { Worlds } from './worlds.ts'

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

/** Starts what makes volumes on this process's nodes. It is no node's own, and stands for all of them. */
export function startLocalPathProvisioner(worlds: Worlds, volumes: LocalVolumes, link: ConnectionLink): Started {
  const name = 'local-path-provisioner'
  const client = worlds.clientOf(name, controllerIdentity(localPathProvisionerIdentity), link)
  const manager = createManager({ client, environment: worlds.environmentOf(name) })
  for (const controller of createLocalPathProvisioner(volumes)) manager.add(controller)
  return { atWork: manager.start(), stop: () => manager.stop() }
}
