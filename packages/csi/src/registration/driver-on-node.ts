import { type CsiNode, deepEqual, managedAttachmentAnnotation, type Node, sortKeys } from '@coracle/api'

type CsiNodeSpec = CsiNode['spec']

/** What a driver says of the node. */
export interface DriverOnNode {
  readonly name: string
  readonly nodeId: string
  /** 0: it does not say. */
  readonly maxVolumes: number
  /** Labels of the node that say where volumes of the driver can be used. */
  readonly topology: Readonly<Record<string, string>>
}

/** What drivers call the node: a map of names to ids, as JSON. */
export const nodeIdAnnotation = 'csi.volume.kubernetes.io/nodeid'

const countMax = 2 ** 31 - 1

/** The drivers of the node with this one, which may have been there as another: upstream's installDriverToCSINode. Pure. */
export function withDriver({ drivers }: CsiNodeSpec, driver: DriverOnNode): CsiNodeSpec {
  const { name, nodeId, topology } = driver
  const entry = { name, nodeID: nodeId, topologyKeys: Object.keys(topology).sort(), ...room(driver) }
  return { drivers: [...drivers.filter((each) => each.name !== name), entry] }
}

/** The drivers of the node, of which this one says how many of its volumes fit there now. Pure. */
export function withRoom({ drivers }: CsiNodeSpec, driver: Pick<DriverOnNode, 'name' | 'maxVolumes'>): CsiNodeSpec {
  return {
    drivers: drivers.map((each) => {
      if (each.name !== driver.name) return each
      const { allocatable: _, ...rest } = each
      return { ...rest, ...room(driver) }
    }),
  }
}

const room = ({ maxVolumes }: Pick<DriverOnNode, 'maxVolumes'>) =>
  maxVolumes > 0 ? { allocatable: { count: Math.min(maxVolumes, countMax) } } : {}

export const withoutDriver = ({ drivers }: CsiNodeSpec, name: string): CsiNodeSpec => ({
  drivers: drivers.filter((driver) => driver.name !== name),
})

/** Whether the driver was there with what cannot be changed: it has to go before it can come back as another. */
export function isOtherDriver({ drivers }: CsiNodeSpec, next: CsiNodeSpec, name: string): boolean {
  const identity = (spec: Pick<CsiNodeSpec, 'drivers'>) => {
    const { allocatable: _, ...rest } = spec.drivers.find((driver) => driver.name === name) ?? {}
    return rest
  }
  return drivers.some((driver) => driver.name === name) && !deepEqual(identity({ drivers }), identity(next))
}

/** A change of a Node's metadata: a merge patch. */
export interface MetadataChange {
  readonly annotations: Readonly<Record<string, string | null>>
  readonly labels?: Readonly<Record<string, string>>
}

/**
 * What the Node is to have for a driver: its id, labels, and that volumes are attached to it by a controller. A sentence where a label
 * says something else already, which others may rely on. Undefined: it has it all. Pure.
 */
export function nodeWithDriver(
  { metadata }: Node,
  { name, nodeId, topology }: DriverOnNode,
): MetadataChange | string | undefined {
  const { annotations = {}, labels = {} } = metadata
  for (const [key, value] of Object.entries(topology)) {
    const [told, label] = [quoted(key, value), quoted(key, labels[key])]
    if (labels[key] !== undefined && labels[key] !== value)
      return `detected topology value collision: driver reported ${told} but existing label is ${label}`
  }
  const wanted = {
    [nodeIdAnnotation]: idsText({ ...idsOf(annotations), [name]: nodeId }),
    [managedAttachmentAnnotation]: 'true',
  }
  const isThere =
    Object.entries(wanted).every(([key, value]) => annotations[key] === value) &&
    Object.keys(topology).every((key) => labels[key] !== undefined)
  return isThere ? undefined : { annotations: wanted, labels: topology }
}

/** Undefined: nothing of the driver is there. Labels stay, as upstream. Pure. */
export function nodeWithoutDriver({ metadata: { annotations = {} } }: Node, name: string): MetadataChange | undefined {
  const { [name]: gone, ...others } = idsOf(annotations)
  if (gone === undefined) return undefined
  return { annotations: { [nodeIdAnnotation]: Object.keys(others).length === 0 ? null : idsText(others) } }
}

const quoted = (key: string, value: string | undefined): string => `${JSON.stringify(key)}:${JSON.stringify(value)}`

function idsOf(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  try {
    return JSON.parse(annotations[nodeIdAnnotation] ?? '{}') ?? {}
  } catch {
    // Somebody else wrote it: what drivers say now is written anew.
    return {}
  }
}

/** As Go writes maps: by key. */
const idsText = (ids: Readonly<Record<string, string>>): string => JSON.stringify(sortKeys(ids))
