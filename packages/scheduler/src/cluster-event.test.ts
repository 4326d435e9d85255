import { expect, it } from 'vitest'
import { type ClusterEvent, nodeOfEvent } from './cluster-event.ts'
import { makeNode, makePod } from './testing/objects.ts'

const pod = makePod()
const node = makeNode({ name: 'n' })

it.each<[ClusterEvent, string | undefined]>([
  [{ type: 'node-changed', node }, 'n'],
  [{ type: 'pod-removed', pod, nodeName: 'n' }, 'n'],
  [{ type: 'pod-placed', pod, nodeName: 'n' }, 'n'],
  [{ type: 'csi-node-changed', nodeName: 'n' }, 'n'],
  [{ type: 'volume-detached', nodeName: 'n' }, 'n'],
  [{ type: 'node-removed', node }, undefined],
  [{ type: 'namespace-changed', namespace: 'n' }, undefined],
  [{ type: 'storage-capacity-changed' }, undefined],
])('an event of the type $type is about its node, if of any', (event, name) => {
  expect(nodeOfEvent(event)).toBe(name)
})
