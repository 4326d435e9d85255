import type { NodeSelectorRequirement, NodeSelectorTerm } from '../kinds/core/common.ts'
import type { Node } from '../kinds/core/node/node-schema.ts'
import type { PodSpec } from '../kinds/core/pod/pod-spec.ts'
import { type LabelOperator, type LabelRequirement, labelMatcher } from '../label-selectors.ts'
import { expressionOperators } from '../selector-operators.ts'

/** Whether a node is meant. */
export type NodeMatcher = (node: Node) => boolean

/**
 * The nodes a pod may run on by its `nodeSelector` and required node affinity, both of which must hold; undefined where it has
 * neither (component-helpers' GetRequiredNodeAffinity). The spec is read once, however many nodes are asked about.
 */
export function requiredNodeMatcher({ nodeSelector, affinity }: PodSpec): NodeMatcher | undefined {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const selector = Object.entries(nodeSelector ?? {})
  if (selector.length === 0 && required === undefined) return undefined
  const terms = required?.nodeSelectorTerms.map(nodeTermMatcher)
  return (node) => {
    const { labels = {} } = node.metadata
    for (const [key, value] of selector) if (labels[key] !== value) return false
    return terms === undefined || terms.some((matches) => matches(node))
  }
}

/** The nodes a term means, all of its conditions taken together. One without conditions means none. */
export function nodeTermMatcher({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeMatcher {
  const labels = matchExpressions.flatMap(labelRequirement)
  const fields = matchFields.flatMap(fieldMatcher)
  const isUnderstood = labels.length === matchExpressions.length && fields.length === matchFields.length
  if (!isUnderstood || labels.length + fields.length === 0) return () => false
  const selector = labelMatcher(labels)
  if (fields.length === 0) return (node) => selector.matches(node.metadata.labels)
  return (node) => selector.matches(node.metadata.labels) && fields.every((matches) => matches(node))
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([...expressionOperators, ['Gt', '>'], ['Lt', '<']])

function labelRequirement({ key, operator, values = [] }: NodeSelectorRequirement): LabelRequirement[] {
  const known = operators.get(operator)
  return known === undefined ? [] : [{ key, operator: known, values }]
}

/** Fields are only compared for being the same; of any other than the name nodes have none. */
function fieldMatcher({ key, operator, values = [] }: NodeSelectorRequirement): NodeMatcher[] {
  const fieldOf = ({ metadata }: Node): string => (key === 'metadata.name' ? (metadata.name ?? '') : '')
  switch (operator) {
    case 'In':
      return [(node) => values.includes(fieldOf(node))]
    case 'NotIn':
      return [(node) => !values.includes(fieldOf(node))]
    default:
      return []
  }
}
