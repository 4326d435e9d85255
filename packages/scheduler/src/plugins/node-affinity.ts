import { nodeTermMatcher, type Pod, requiredNodeMatcher } from '@coracle/api'
import { type NodePlugin, normalizeToMax, type Refusal } from './plugin.ts'

const mismatch: Refusal = {
  reasons: ["node(s) didn't match Pod's node affinity/selector"],
  isHelpedByEviction: false,
}

/** Nodes must carry every label of `nodeSelector` and satisfy the required node affinity; preferences that they satisfy add up. */
export const nodeAffinity: NodePlugin = {
  name: 'NodeAffinity',
  scope: 'node',
  weight: 2,
  signature({ nodeSelector, affinity }) {
    const terms = affinity?.nodeAffinity
    return nodeSelector === undefined && terms === undefined ? undefined : [nodeSelector, terms]
  },
  filter(pod) {
    const matches = requiredNodeMatcher(pod.spec)
    if (matches === undefined) return undefined
    return { nodeNames: requiredNodeNames(pod), refuse: ({ node }) => (matches(node) ? undefined : mismatch) }
  },
  scorer(pod) {
    const terms = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    if (terms.length === 0) return undefined
    const preferences = terms.map(({ weight, preference }) => ({ weight, matches: nodeTermMatcher(preference) }))
    return {
      score({ node }) {
        let score = 0
        for (const { weight, matches } of preferences) if (matches(node)) score += weight
        return score
      },
      normalize: (scores) => normalizeToMax(scores),
    }
  },
}

/**
 * The only nodes that required node affinity can mean, where every term of it says so by name, as those of daemons do: then
 * no other need be looked at. Empty where the terms contradict themselves; undefined where any node may be meant.
 */
export function requiredNodeNames(pod: Pod): ReadonlySet<string> | undefined {
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  if (terms === undefined || terms.length === 0) return undefined
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    const lists = matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    const [first, ...others] = lists.map(({ values = [] }) => values)
    if (first === undefined) return undefined
    for (const name of first) if (others.every((values) => values.includes(name))) names.add(name)
  }
  return names
}
