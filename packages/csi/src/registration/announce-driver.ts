import { type CsiNode, csiNodes, deepEqual, hasReason, type Node, nodes } from '@coracle/api'
import { type Client, retryOnConflict } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import {
  type DriverOnNode,
  isOtherDriver,
  type MetadataChange,
  nodeWithDriver,
  nodeWithoutDriver,
  withDriver,
  withoutDriver,
  withRoom,
} from './driver-on-node.ts'

export interface Announcement {
  readonly client: Client
  readonly environment: Environment
  readonly nodeName: string
}

/** Tells the cluster that the node has a driver: in its Node and its CSINode, which is made where there is none. */
export async function announceDriver(to: Announcement, driver: DriverOnNode): Promise<void> {
  const because = `CSI driver ${driver.name} has registered`
  const change = await changeNode(to, because, (node) => nodeWithDriver(node, driver))
  if (change !== undefined) throw new Error(`error updating Node object with CSI driver node info: ${change}`)
  await retryOnConflict(async () => {
    const csiNode = await ensureCsiNode(to, because)
    const spec = withDriver(csiNode.spec, driver)
    const base = isOtherDriver(csiNode.spec, spec, driver.name)
      ? await updateCsiNode(to, { ...csiNode, spec: withoutDriver(csiNode.spec, driver.name) }, because)
      : csiNode
    await updateCsiNode(to, { ...base, spec }, because)
  }, to.environment)
}

/** Tells the cluster how many volumes of a driver fit on the node, where it knows of that driver. */
export async function announceRoom(to: Announcement, driver: Pick<DriverOnNode, 'name' | 'maxVolumes'>): Promise<void> {
  const because = `CSI driver ${driver.name} says how many of its volumes fit`
  await retryOnConflict(async () => {
    const csiNode = await findCsiNode(to)
    if (csiNode === undefined) return
    const spec = withRoom(csiNode.spec, driver)
    if (!deepEqual(spec, csiNode.spec)) await updateCsiNode(to, { ...csiNode, spec }, because)
  }, to.environment)
}

/** Takes that back. */
export async function withdrawDriver(to: Announcement, name: string): Promise<void> {
  const because = `CSI driver ${name} is no longer registered`
  await retryOnConflict(async () => {
    const csiNode = await findCsiNode(to)
    if (csiNode === undefined) return
    await updateCsiNode(to, { ...csiNode, spec: withoutDriver(csiNode.spec, name) }, because)
  }, to.environment)
  await changeNode(to, because, (node) => nodeWithoutDriver(node, name))
}

/** Gives the sentence where there is nothing to be done but to say why. */
async function changeNode(
  { client, environment, nodeName: name }: Announcement,
  because: string,
  changeOf: (node: Node) => MetadataChange | string | undefined,
): Promise<string | undefined> {
  return retryOnConflict(async () => {
    const node = await client.get(nodes, { name })
    const change = changeOf(node)
    if (typeof change === 'string' || change === undefined) return change
    const { resourceVersion } = node.metadata
    const body = { metadata: { ...change, resourceVersion } }
    await client.patch(nodes, { name }, { type: 'merge', body }, { because })
    return undefined
  }, environment)
}

async function findCsiNode({ client, nodeName: name }: Announcement): Promise<CsiNode | undefined> {
  try {
    return await client.get(csiNodes, { name })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** The CSINode as it is to be, but for its drivers. */
async function ensureCsiNode(to: Announcement, because: string): Promise<CsiNode> {
  const found = await findCsiNode(to)
  const { client, nodeName: name } = to
  const { uid = '' } = (await client.get(nodes, { name })).metadata
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }]
  // One of a Node that was there before would go with that.
  if (found !== undefined) return { ...found, metadata: { ...found.metadata, ownerReferences } }
  const csiNode: CsiNode = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name, ownerReferences },
    spec: { drivers: [] },
  }
  return client.create(csiNodes, csiNode, { because })
}

const updateCsiNode = ({ client }: Announcement, csiNode: CsiNode, because: string): Promise<CsiNode> =>
  client.update(csiNodes, csiNode, { because })
