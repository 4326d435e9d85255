import { type Pod, type PodAffinityTerm, selectorFromLabelSelector } from '@coracle/api'
import type { Cluster } from '../cluster.ts'

/** A term of a pod's affinity or anti-affinity to pods, read once. */
export interface AffinityTerm {
  readonly topologyKey: string
  /** How much a preference counts; 1 for a requirement. */
  readonly weight: number
  /** Whether it means the other pod, being a term of `owner`. */
  means(other: Pod, owner: Pod, cluster: Cluster): boolean
}

/** The terms of a pod. */
export interface AffinityTerms {
  readonly required: readonly AffinityTerm[]
  readonly requiredAnti: readonly AffinityTerm[]
  readonly preferred: readonly AffinityTerm[]
  readonly preferredAnti: readonly AffinityTerm[]
}

const noTerms: AffinityTerms = { required: [], requiredAnti: [], preferred: [], preferredAnti: [] }

type Affinity = NonNullable<Pod['spec']['affinity']>

const known = new WeakMap<Affinity, AffinityTerms>()

/** The terms of a pod, read when it is first asked about. */
export function affinityTermsOf({ spec: { affinity } }: Pod): AffinityTerms {
  if (affinity === undefined) return noTerms
  const found = known.get(affinity)
  if (found !== undefined) return found
  const terms = readTerms(affinity)
  known.set(affinity, terms)
  return terms
}

function readTerms({ podAffinity, podAntiAffinity }: Affinity): AffinityTerms {
  const required = (terms: Affinity['podAffinity']) =>
    (terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => readTerm(term, 1))
  const preferred = (terms: Affinity['podAffinity']) =>
    (terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm, weight }) =>
      readTerm(podAffinityTerm, weight),
    )
  return {
    required: required(podAffinity),
    requiredAnti: required(podAntiAffinity),
    preferred: preferred(podAffinity),
    preferredAnti: preferred(podAntiAffinity),
  }
}

function readTerm(
  { topologyKey, labelSelector, namespaces = [], namespaceSelector }: PodAffinityTerm,
  weight: number,
): AffinityTerm {
  const pods = selectorFromLabelSelector(labelSelector)
  const named = new Set(namespaces)
  const selected = selectorFromLabelSelector(namespaceSelector)
  const isOwnNamespace = named.size === 0 && namespaceSelector === undefined
  return {
    topologyKey,
    weight,
    means({ metadata: { namespace = '', labels } }, owner, cluster) {
      if (!pods.matches(labels)) return false
      if (isOwnNamespace) return namespace === owner.metadata.namespace
      return named.has(namespace) || selected.matches(cluster.namespaceLabels(namespace))
    },
  }
}
