import { internalError, type Pod, parseLogOptions } from '@coracle/api'
import type { NodeGateway } from '../node-gateway.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { chosenContainer } from './chosen-container.ts'
import type { Subresource } from './subresource.ts'

/** `pods/log`: what a container has written, from the node it is on. */
export function logSubresource(registry: ResourceRegistry, nodes: NodeGateway | undefined): Subresource {
  return {
    async stream(namespace, name, query, signal) {
      const options = parseLogOptions(query, name)
      const pod = (await registry.get(namespace, name)).object as Pod
      const container = chosenContainer(pod, options.container)
      // Where no node has the pod there is nothing to read yet, which is not an error.
      if ((pod.spec.nodeName ?? '') === '') return nothing()
      if (nodes === undefined) throw internalError('no node agents can be reached from here')
      return nodes.logs(pod, { ...options, container }, signal)
    },
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
