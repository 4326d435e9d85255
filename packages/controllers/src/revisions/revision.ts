import {
  type ControllerRevision,
  deepEqual,
  exactInteger,
  type JsonObject,
  type KubernetesObject,
  type PodTemplateSpec,
  sortKeys,
} from '@coracle/api'
import { controllerRef } from '@coracle/controller-runtime'
import { nameHash } from '../name-hash.ts'

/** The label of pods that says which revision they are made from: for daemon sets its hash, for stateful sets its name. */
export const revisionHashLabel = 'controller-revision-hash'

/** So much of the name of its owner is in the name of a revision, as upstream: with a hash it is no longer than names may be. */
const ownerNameLengthMax = 223

/** What is kept in revisions: the template of pods, of which there is a new revision whenever it changes. */
export interface RevisedOwner extends KubernetesObject {
  readonly spec: { readonly template: PodTemplateSpec }
  readonly status?: { readonly collisionCount?: number | undefined } | undefined
}

/** What a revision keeps: a strategic merge patch that brings the owner's template back. Its keys are in order: kubectl compares it as text. */
export function revisionData({ spec: { template } }: RevisedOwner): JsonObject {
  return sortKeys({ spec: { template: { ...template, $patch: 'replace' } } }) as JsonObject
}

/** The revision that the present template of an owner would be. Its name follows from the template; so does the label `hashLabel`. */
export function newRevision(
  owner: RevisedOwner,
  revision: number | bigint,
  hashLabel = revisionHashLabel,
): ControllerRevision {
  const { namespace, name = '', annotations } = owner.metadata
  const data = revisionData(owner)
  const hash = nameHash(data, owner.status?.collisionCount)
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name.slice(0, ownerNameLengthMax)}-${hash}`,
      namespace,
      labels: { ...owner.spec.template.metadata?.labels, [hashLabel]: hash },
      annotations,
      ownerReferences: [controllerRef(owner)],
    },
    data,
    revision,
  }
}

/** The hash that the name of a daemon set's revision ends with, which its pods carry. */
export function revisionHash({ metadata: { name = '', labels } }: ControllerRevision): string {
  return labels?.[revisionHashLabel] ?? name
}

/** Whether a revision keeps the template that its owner has now. */
export function isPresent(revision: ControllerRevision, owner: RevisedOwner): boolean {
  const data = revisionData(owner)
  return deepEqual(revision.data, data) || deepEqual(withoutNulls(revision.data), data)
}

/** Earlier servers kept the time at which a template was created as null. It says nothing, and objects that are decoded have none. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, each]) => each !== null)
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutNulls(each)]))
}

/** The number that comes after one of a revision, which has up to 64 bits. */
export const revisionAfter = (revision: number | bigint): number | bigint => exactInteger(BigInt(revision) + 1n)

/** The earlier revision first; of the same number, the older; of the same second, by name. */
export function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  if (a.revision !== b.revision) return a.revision < b.revision ? -1 : 1
  return (
    compareText(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
    compareText(a.metadata.name, b.metadata.name)
  )
}

function compareText(a = '', b = ''): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
