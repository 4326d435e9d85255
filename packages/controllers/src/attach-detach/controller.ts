import {
  claimsOfPod,
  csiDrivers,
  managedAttachmentAnnotation,
  type Node,
  nodes,
  type PersistentVolume,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type VolumeAttachment,
  volumeAttachments,
} from '@coracle/api'
import { keyOf, keyText } from '@coracle/client'
import { type Change, type Controller, controller, type Lookup, performPlan } from '@coracle/controller-runtime'
import { claimIndexName, podsByClaim } from '../pods/by-claim.ts'
import { byNode, nodeIndexName } from '../pods/by-node.ts'
import { attachmentIndexes } from './indexes.ts'
import type { NodeMemory } from './plan.ts'

const isManaged = (node: Node | undefined): boolean =>
  node?.metadata.annotations?.[managedAttachmentAnnotation] === 'true'

/**
 * Has volumes attached to the nodes whose pods have them, and detached from others. Only nodes with CSI drivers take part: elsewhere
 * a change of a pod costs a look at its spec.
 */
export function createAttachDetachController(): Controller {
  const memories = new Map<string, NodeMemory>()
  return controller('attachdetach-controller', { component: 'attachdetach-controller' })
    .for(nodes, { predicates: [({ object }) => isManaged(object)] })
    .watches(pods, managedNodes, {
      predicates: [hasClaims],
      indexes: { [nodeIndexName]: byNode, [claimIndexName]: podsByClaim },
    })
    .watches(persistentVolumeClaims, (claim, lookup) => nodesOfClaim(keyOf(claim), lookup))
    .watches(persistentVolumes, nodesOfVolume, { predicates: [({ object }) => object.spec?.csi !== undefined] })
    .watches(volumeAttachments, nodesOfAttachment, { indexes: attachmentIndexes })
    .reads(csiDrivers)
    .reconcile(async ({ object: node, name }, context) => {
      if (node !== undefined && !isManaged(node)) return undefined
      // Few clusters have drivers of volumes. Where time is virtual it stands still meanwhile.
      const [{ planAttachments }, { observeNode }] = await context.clock.hold(
        Promise.all([import('./plan.ts'), import('./observe-node.ts')]),
      )
      const memory = memories.get(name) ?? { unwantedSince: new Map(), told: new Set() }
      const observed = observeNode(name, node, memory, context)
      const plan = planAttachments(observed, context.clock.monotonicMs())
      if (node === undefined && observed.attachments.length === 0) memories.delete(name)
      else memories.set(name, plan.memory)
      return performPlan(context, node ?? gone(name), plan)
    })
}

/** What stands for a node that is not there any more, whose volumes have to be detached all the same. */
const gone = (name: string): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {} })

const hasClaims = ({ object }: Change<Pod>): boolean => claimsOfPod(object).length > 0

const managedNodes = ({ spec: { nodeName = '' } }: Pod, lookup: Lookup): readonly string[] =>
  isManaged(lookup.informer(nodes).get(nodeName)) ? [nodeName] : []

const nodesOfClaim = (claimKey: string, lookup: Lookup): readonly string[] =>
  lookup
    .informer(pods)
    .byIndex(claimIndexName, claimKey)
    .flatMap((pod) => managedNodes(pod, lookup))

function nodesOfVolume({ spec }: PersistentVolume, lookup: Lookup): readonly string[] {
  const { namespace, name } = spec?.claimRef ?? {}
  return name === undefined ? [] : nodesOfClaim(keyText(namespace, name), lookup)
}

/** Its own, and those that wait for the volume. */
function nodesOfAttachment({ spec: { nodeName, source } }: VolumeAttachment, lookup: Lookup): readonly string[] {
  const volume = lookup.informer(persistentVolumes).get(source.persistentVolumeName ?? '')
  return [nodeName, ...(volume === undefined ? [] : nodesOfVolume(volume, lookup))]
}
