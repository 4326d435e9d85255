import {
  applyStrategicMergePatch,
  type ControllerRevision,
  compile,
  type Pod,
  type PodTemplateSpec,
  type StatefulSet,
  statefulSets,
} from '@coracle/api'
import { podFromTemplate } from '../pods/pod-from-template.ts'
import { revisionHashLabel } from '../revisions/revision.ts'
import { volumesOf } from './claims.ts'
import { firstOrdinal, podIndexLabel, podName, podNameLabel } from './identity.ts'

/** The two templates between which a stateful set may be. */
export interface Versions {
  /** The template that all pods were made from when they last agreed. */
  readonly current: ControllerRevision
  /** The template that is wanted now. */
  readonly update: ControllerRevision
  /** What the former keeps; the set has the other. */
  readonly currentTemplate: PodTemplateSpec
}

/**
 * The versions of a stateful set whose present template has the revision `update`. Throws where what it had before cannot be read: then nothing is
 * known of how its pods are to be, as upstream sees it.
 */
export function versionsOf(set: StatefulSet, current: ControllerRevision, update: ControllerRevision): Versions {
  return { current, update, currentTemplate: current === update ? set.spec.template : templateOf(set, current) }
}

/** The revision a pod is made from, by its name. */
export const revisionOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[revisionHashLabel]

/** Pods with a smaller number than this keep the template they have. */
export function partition(set: StatefulSet): number {
  const { type = 'RollingUpdate', rollingUpdate } = set.spec.updateStrategy ?? {}
  return type === 'RollingUpdate' ? firstOrdinal(set) + (rollingUpdate?.partition ?? 0) : firstOrdinal(set)
}

/**
 * Pods with a smaller number than this are made from the former template. A strategy that only has a name says of no partition: then
 * as many as are left of that template are (upstream's newVersionedStatefulSetPod).
 */
function formerUntil(set: StatefulSet): number {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {}
  if (type !== 'RollingUpdate' || rollingUpdate !== undefined) return partition(set)
  return firstOrdinal(set) + (set.status?.currentReplicas ?? 0)
}

/** The pod that a stateful set wants under this number: of the former template, where that is to stay. */
export function statefulPod(set: StatefulSet, { current, currentTemplate, update }: Versions, ordinal: number): Pod {
  const isFormer = ordinal < formerUntil(set)
  const [revision, template] = isFormer ? [current, currentTemplate] : [update, set.spec.template]
  const pod = podFromTemplate(set, template)
  const name = podName(set, ordinal)
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      name,
      labels: {
        ...pod.metadata.labels,
        [podNameLabel]: name,
        [podIndexLabel]: String(ordinal),
        [revisionHashLabel]: revision.metadata.name ?? '',
      },
    },
    spec: {
      ...template.spec,
      hostname: name,
      subdomain: set.spec.serviceName,
      volumes: volumesOf(set, ordinal, template.spec.volumes),
    },
  }
}

/**
 * The template that a revision keeps. Its data is a patch of the set (upstream's ApplyRevision): one that others have made may say a part of a
 * template, or none. Throws where it cannot be read.
 */
function templateOf(set: StatefulSet, { data, metadata }: ControllerRevision): PodTemplateSpec {
  try {
    const patched = applyStrategicMergePatch(statefulSets.schema, set, data)
    return (compile(statefulSets.schema).decode(patched).value as StatefulSet).spec.template
  } catch (error) {
    throw new Error(`the data of controller revision ${metadata.name} is no patch of a stateful set`, { cause: error })
  }
}
