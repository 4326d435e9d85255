import { FieldPath } from '../../../field-path.ts'
import { cidrWarnings } from '../../address-warnings.ts'
import { kind } from '../../kind.ts'
import { wholeMillis } from '../common.ts'
import { proxyVerbs } from '../proxy-options.ts'
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

/** Nodes are no longer told where their configuration is: what says so may stay, and none comes (dropDisabledFields). */
function withoutNewConfig(node: Node, { spec: oldSpec, status: oldStatus }: Pick<Node, 'spec' | 'status'>): Node {
  const { spec, status } = node
  const losesSource = spec?.configSource !== undefined && oldSpec?.configSource === undefined
  const losesConfig = status?.config !== undefined && oldStatus?.config === undefined
  if (!losesSource && !losesConfig) return node
  const { configSource: _source, ...ofSpec } = spec ?? {}
  const { config: _config, ...ofStatus } = status ?? {}
  return { ...node, ...(losesSource ? { spec: ofSpec } : {}), ...(losesConfig ? { status: ofStatus } : {}) }
}

/** `v1` nodes. */
export const nodes = kind<Node>(nodeSchema, {
  plural: 'nodes',
  subresources: { proxy: { kind: 'NodeProxyOptions', verbs: proxyVerbs, proxies: true } },
  shortNames: ['no'],
  namespaced: false,
  columns: nodeColumns,
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
  // A node may be created with its status, and is by its agent.
  rules: { keepsStatusOnCreate: true },
  defaults: nodeDefaults,
  prepareForCreate: (node) => withoutNewConfig(node, {}),
  prepareForUpdate: (node, old) => withoutNewConfig(node, old),
  prepareForStatusUpdate: (node, old) => ({ ...withoutNewConfig(node, old), spec: old.spec }),
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  warnings: ({ spec = {} }) => [
    ...(spec.configSource === undefined ? [] : ['spec.configSource: the feature is removed']),
    ...(spec.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...(spec.podCIDRs ?? []).flatMap((cidr, index) =>
      cidrWarnings(cidr, FieldPath.of('spec', 'podCIDRs').index(index)),
    ),
  ],
  validateStatusUpdate: (node, old) => [...validateNodeStatus(node), ...validateNodeUpdate(node, old)],
})
