import {
  type Deployment,
  type LabelSelectorObject,
  type PodTemplateSpec,
  type ReplicaSet,
  revisionAnnotation,
} from '@coracle/api'
import { controllerRef } from '@coracle/controller-runtime'
import { ownAnnotations, revisionHistoryAnnotation } from './annotations.ts'
import { type Draft, draftOf, sizeAnnotations } from './draft.ts'
import { desiredOf, isRollingUpdate, maxReplicas } from './limits.ts'
import { maxRevision, revisionOf } from './replica-sets.ts'
import { templateHash, templateHashLabel } from './template-hash.ts'

/** Length of a revision history; the earliest revisions are dropped when it would be longer. */
export const revisionHistoryLengthMax = 2000

/** The ReplicaSet of the present template, brought up to date: with the deployment's annotations and the latest revision. */
export function updatedNewSet(deployment: Deployment, set: ReplicaSet, oldSets: readonly ReplicaSet[]): Draft {
  const draft = draftOf(set)
  const { minReadySeconds } = deployment.spec
  const annotations = withRevision({ ...draft.annotations, ...copiedAnnotations(deployment) }, set, oldSets)
  return { ...draft, annotations, minReadySeconds }
}

/** The ReplicaSet that the present template has yet to get. Its name follows from the template. */
export function createdNewSet(deployment: Deployment, oldSets: readonly Draft[]): Draft {
  const { template, selector, minReadySeconds } = deployment.spec
  const hash = templateHash(template, deployment.status?.collisionCount)
  const labels = { ...template.metadata?.labels, [templateHashLabel]: hash }
  const set: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: newSetName(deployment),
      namespace: deployment.metadata.namespace,
      labels,
      annotations: {
        ...copiedAnnotations(deployment),
        [revisionAnnotation]: String(maxRevision(oldSets.map(({ set }) => set)) + 1n),
        ...sizeAnnotations(deployment),
      },
      ownerReferences: [controllerRef(deployment)],
    },
    spec: {
      replicas: 0,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: withLabel(selector, hash),
      template: { ...template, metadata: { ...template.metadata, labels } } as PodTemplateSpec,
    },
  }
  return { ...draftOf(set, true), replicas: newSetSize(deployment, 0, oldSets) }
}

/** Names are no longer than this. */
const nameLengthMax = 253

/** The name of the ReplicaSet that the present template would get: that of the deployment is cut off where it leaves no room. */
export function newSetName({ metadata: { name = '' }, spec, status }: Deployment): string {
  const suffix = `-${templateHash(spec.template, status?.collisionCount)}`
  return `${name.slice(0, nameLengthMax - suffix.length)}${suffix}`
}

/** To what size the new ReplicaSet may grow now: in a rolling update as far as the surge allows, else to all. */
export function newSetSize(deployment: Deployment, replicas: number, oldSets: readonly Draft[]): number {
  const desired = desiredOf(deployment)
  if (!isRollingUpdate(deployment)) return desired
  const total = oldSets.reduce((sum, old) => sum + old.replicas, replicas)
  const room = maxReplicas(deployment) - total
  return room <= 0 ? replicas : replicas + Math.min(room, desired - replicas)
}

function copiedAnnotations({ metadata }: Deployment): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key)))
}

/** With the revision after those of all others, and the one before it in the history. A revision is never taken back. */
function withRevision(
  annotations: Readonly<Record<string, string>>,
  set: ReplicaSet,
  oldSets: readonly ReplicaSet[],
): Readonly<Record<string, string>> {
  const revision = revisionOf(set)
  const latest = maxRevision(oldSets) + 1n
  if (revision === undefined || revision >= latest) return annotations
  const before = set.metadata.annotations?.[revisionAnnotation]
  const history = before === undefined ? {} : withHistory(annotations[revisionHistoryAnnotation], before)
  return { ...annotations, [revisionAnnotation]: String(latest), ...history }
}

function withHistory(history: string | undefined, revision: string): Readonly<Record<string, string>> {
  const revisions = [...(history ? history.split(',') : []), revision]
  while (revisions.length > 1 && revisions.join(',').length > revisionHistoryLengthMax) revisions.shift()
  return { [revisionHistoryAnnotation]: revisions.join(',') }
}

function withLabel(selector: LabelSelectorObject, hash: string): LabelSelectorObject {
  return { ...selector, matchLabels: { ...selector.matchLabels, [templateHashLabel]: hash } }
}
