import {
  compareRevisions,
  compareText,
  type Deployment,
  deepEqual,
  deploymentRevision,
  type PodTemplateSpec,
  type ReplicaSet,
} from '@coracle/api'
import { timeOf } from '../pods/pod-state.ts'
import { templateHashLabel } from './template-hash.ts'

/** How many replicas a ReplicaSet has, 1 where it does not say. */
export const replicasOf = ({ spec }: ReplicaSet): number => spec.replicas ?? 1

/** The revision a ReplicaSet stands for, as `deploymentRevision`. */
export const revisionOf = ({ metadata }: ReplicaSet): bigint | undefined => deploymentRevision(metadata)

/** The highest revision among ReplicaSets, 0 where there is none. */
export function maxRevision(sets: readonly ReplicaSet[]): bigint {
  return sets.reduce((max, set) => {
    const revision = revisionOf(set) ?? 0n
    return revision > max ? revision : max
  }, 0n)
}

/**
 * The ReplicaSet of the deployment's present template, if there is one: the oldest, should there be several. What its template
 * says is compared and not its hash, which may be another after an upgrade.
 */
export function newReplicaSet({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return [...sets].sort(byCreation).find(({ spec: { template } }) => hasTemplate(template, spec.template))
}

/** Whether two templates are the same but for the label that tells templates apart. */
export function hasTemplate(template: PodTemplateSpec | undefined, wanted: PodTemplateSpec): boolean {
  return template !== undefined && deepEqual(withoutHash(template), withoutHash(wanted))
}

/** The template without the label that tells templates apart. */
export function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  if (template.metadata?.labels?.[templateHashLabel] === undefined) return template
  const { [templateHashLabel]: _hash, ...labels } = template.metadata.labels
  return { ...template, metadata: { ...template.metadata, labels } }
}

/** The older first; of the same second, by name. */
export function byCreation(a: ReplicaSet, b: ReplicaSet): number {
  const difference = (timeOf(a.metadata.creationTimestamp) ?? 0) - (timeOf(b.metadata.creationTimestamp) ?? 0)
  return difference || compareText(a.metadata.name ?? '', b.metadata.name ?? '')
}

/** The earlier revision first. */
export const byRevision = (a: ReplicaSet, b: ReplicaSet): number =>
  compareRevisions(revisionOf(a) ?? 0n, revisionOf(b) ?? 0n)
