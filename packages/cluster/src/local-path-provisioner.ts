import type { ConnectionLink } from '@coracle/client'
import { createManager } from '@coracle/controller-runtime'
import { createLocalPathProvisioner, type LocalVolumes, localPathProvisionerIdentity } from '@coracle/controllers'
import type { Started } from './component.ts'
import { controllerIdentity } from './identities.ts'
import type { Worlds } from './worlds.ts'

/** Starts what makes volumes on this process's nodes. It is no node's own, and stands for all of them. */
export function startLocalPathProvisioner(worlds: Worlds, volumes: LocalVolumes, link: ConnectionLink): Started {
  const name = 'local-path-provisioner'
  const client = worlds.clientOf(name, controllerIdentity(localPathProvisionerIdentity), link)
  const manager = createManager({ client, environment: worlds.environmentOf(name) })
  for (const controller of createLocalPathProvisioner(volumes)) manager.add(controller)
  return { atWork: manager.start(), stop: () => manager.stop() }
}
