import { nodeTermMatcher, type Pod, requiredNodeMatcher } from '@coracle/api'
import { type Filter, fits, normalizeToMax, type Scorer } from './plugin.ts'

const mismatch = ["node(s) didn't match Pod's node affinity/selector"] as const

/** Why nodes are out of the question that the pod does not name. */
export const notNamed = "node(s) didn't satisfy plugin(s) [NodeAffinity]"

/**
 * The only nodes that required node affinity can mean, where every term of it says so by name, as those of daemons do: then
 * no other need be looked at. Empty where the terms contradict themselves; undefined where any node may be meant.
 */
export function requiredNodeNames(pod: Pod): ReadonlySet<string> | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
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

/** Nodes must carry every label of `nodeSelector` and satisfy the required node affinity. */
export const nodeAffinity: Filter = {
  name: 'NodeAffinity',
  prepare(pod) {
    const matches = requiredNodeMatcher(pod.spec)
    return matches && (({ node }) => (matches(node) ? fits : mismatch))
  },
}

/** Nodes score the weights of the preferences they satisfy. */
export const nodeAffinityScore: Scorer = {
  name: 'NodeAffinity',
  weight: 2,
  prepare(pod) {
    const terms = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    if (terms.length === 0) return undefined
    const preferences = terms.map(({ weight, preference }) => ({ weight, matches: nodeTermMatcher(preference) }))
    return ({ node }) => {
      let score = 0
      for (const { weight, matches } of preferences) if (matches(node)) score += weight
      return score
    }
  },
  normalize: (scores) => normalizeToMax(scores),
}
