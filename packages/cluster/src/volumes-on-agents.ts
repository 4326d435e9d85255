import { type Node, nodes } from '@coracle/api'
import type { Controller, Manager } from '@coracle/controller-runtime'
import { createLocalPathProvisioner, type LocalVolumes } from '@coracle/controllers'
import type { NodeConnections } from './node-connections.ts'

/**
 * Has volumes made on nodes that have agents elsewhere, through these, from when there is the first such node: `add` adds a controller to the
 * manager. Their directories are on the machines of the agents; all that is written about them to the API is written here.
 */
export function makeVolumesOnAgents(
  manager: Manager,
  connections: Pick<NodeConnections, 'isConnected' | 'createVolume' | 'removeVolume'>,
  add: (controller: Controller) => void,
): void {
  const informer = manager.informer(nodes)
  const isAgents = (node: Node | undefined): boolean =>
    (node?.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) > 0 &&
    !connections.isConnected(node?.metadata.name ?? '')
  const volumes: LocalVolumes = {
    isOwn: (nodeName) => isAgents(informer.get(nodeName)),
    nodesChange: true,
    create: (nodeName, name) => connections.createVolume(nodeName, name),
    remove: (nodeName, name, path) => connections.removeVolume(nodeName, name, path),
  }
  let isBegun = false
  const look = (node: Node): void => {
    if (isBegun || !isAgents(node)) return
    isBegun = true
    for (const controller of createLocalPathProvisioner(volumes)) add(controller)
  }
  informer.addHandler({ add: look, update: (_, node) => look(node) })
}
