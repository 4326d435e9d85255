import type { ResourceDefinition } from '../../../resource.ts'
import { checkFinalizers } from '../../validation.ts'
import { allVerbs } from '../../verbs.ts'
import { wholeMillis } from '../common.ts'
import { nodeColumns } from './node-columns.ts'
import { type Node, nodeSchema } from './node-schema.ts'
import type { NodeSpec } from './node-spec.ts'
import type { NodeStatus } from './node-status.ts'
import { validateNode, validateNodeStatus, validateNodeUpdate } from './node-validation.ts'

/** What can be had is what there is unless said otherwise, and `podCIDR` is the first of `podCIDRs`. */
export function nodeDefaults(node: Node): Node {
  const spec = node.spec === undefined ? undefined : specDefaults(node.spec)
  const status = node.status === undefined ? undefined : statusDefaults(node.status)
  return spec === node.spec && status === node.status ? node : { ...node, spec, status }
}

/** Where the two disagree the single one counts: older clients know no other (core/v1 conversion of NodeSpec). */
function specDefaults(spec: NodeSpec): NodeSpec {
  const { podCIDR, podCIDRs = [] } = spec
  if (podCIDR) return podCIDR === podCIDRs[0] ? spec : { ...spec, podCIDRs: [podCIDR] }
  const [first] = podCIDRs
  return first === undefined ? spec : { ...spec, podCIDR: first }
}

function statusDefaults(status: NodeStatus): NodeStatus {
  const capacity = wholeMillis(status.capacity)
  const allocatable = wholeMillis(status.allocatable) ?? capacity
  return capacity === status.capacity && allocatable === status.allocatable
    ? status
    : { ...status, capacity, allocatable }
}

/** `v1` nodes. A node may be created with its status, and is by its agent. */
export const nodes: ResourceDefinition<Node> = {
  group: '',
  version: 'v1',
  kind: 'Node',
  listKind: 'NodeList',
  plural: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  categories: [],
  namespaced: false,
  verbs: allVerbs,
  schema: nodeSchema,
  hasStatus: true,
  subresources: {},
  nameFormat: 'dns1123-subdomain',
  columns: nodeColumns,
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
  strategy: {
    applyDefaults: nodeDefaults,
    prepareForStatusUpdate: (node, old) => ({ ...node, spec: old.spec }),
    validate: (node) => [...checkFinalizers(node.metadata), ...validateNode(node)],
    validateUpdate: validateNodeUpdate,
    validateStatusUpdate: (node, old) => [
      ...checkFinalizers(node.metadata),
      ...validateNodeStatus(node),
      ...validateNodeUpdate(node, old),
    ],
  },
}
