import type { Node, NodeSelectorRequirement, NodeSelectorTerm } from '@coracle/api'
import { type Filter, fits, normalizeToMax, type Scorer } from './plugin.ts'

const mismatch = ["node(s) didn't match Pod's node affinity/selector"] as const

/** Nodes must carry every label of `nodeSelector` and satisfy the required node affinity. */
export const nodeAffinity: Filter = {
  name: 'NodeAffinity',
  prepare(pod) {
    const selector = Object.entries(pod.spec?.nodeSelector ?? {})
    const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    if (selector.length === 0 && required === undefined) return undefined
    return ({ node }) => {
      const labels = node.metadata.labels ?? {}
      if (selector.some(([key, value]) => labels[key] !== value)) return mismatch
      if (required !== undefined && !required.nodeSelectorTerms.some((term) => matchesTerm(node, term))) return mismatch
      return fits
    }
  },
}

/** Nodes score the weights of the preferences they satisfy. */
export const nodeAffinityScore: Scorer = {
  name: 'NodeAffinity',
  weight: 2,
  prepare(pod) {
    const preferences = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    if (preferences.length === 0) return undefined
    return ({ node }) => {
      let score = 0
      for (const { weight, preference } of preferences) if (matchesTerm(node, preference)) score += weight
      return score
    }
  },
  normalize: (scores) => normalizeToMax(scores),
}

/** A term without conditions matches nothing. */
function matchesTerm(node: Node, { matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false
  const labels = node.metadata.labels ?? {}
  const fields: Readonly<Record<string, string>> = { 'metadata.name': node.metadata.name ?? '' }
  return (
    matchExpressions.every((requirement) => matchesRequirement(labels[requirement.key], requirement)) &&
    matchFields.every((requirement) => matchesRequirement(fields[requirement.key], requirement))
  )
}

function matchesRequirement(value: string | undefined, { operator, values = [] }: NodeSelectorRequirement): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return isInteger(value) && isInteger(values[0]) && BigInt(value) > BigInt(values[0])
    case 'Lt':
      return isInteger(value) && isInteger(values[0]) && BigInt(value) < BigInt(values[0])
    default:
      return false
  }
}

const isInteger = (text: string | undefined): text is string => text !== undefined && /^[+-]?\d{1,19}$/.test(text)
