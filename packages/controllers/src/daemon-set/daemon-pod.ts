import {
  type DaemonSet,
  type NodeSelectorTerm,
  type Pod,
  type PodSpec,
  type Toleration,
  templateGenerationAnnotation,
} from '@coracle/api'
import { podFromTemplate } from '../pods/pod-from-template.ts'
import { timeOf } from '../pods/pod-state.ts'
import { revisionHashLabel } from '../revisions/revision.ts'

/** The label that says of which count of template changes a pod is. */
const templateGenerationLabel = 'pod-template-generation'

/** The name of a node as a field that affinity can ask for. */
const nodeNameField = 'metadata.name'

/**
 * Troubles of a node that do not keep daemons away, or that make none leave: what runs on a node to look after it runs there
 * while the node is in trouble too (upstream's AddOrUpdateDaemonPodTolerations).
 */
const tolerated: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
]
const toleratedOnHostNetwork: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
}

/** What the pods of a daemon set tolerate: what the template says, and troubles of the node. */
export function daemonTolerations({ tolerations = [], hostNetwork }: PodSpec): readonly Toleration[] {
  const added = hostNetwork === true ? [...tolerated, toleratedOnHostNetwork] : tolerated
  const kept = tolerations.filter((toleration) => !added.some((other) => isSame(toleration, other)))
  return [...kept, ...added]
}

/** The pod that a daemon set wants on a node. It is bound by the scheduler, to that node or none. */
export function daemonPod(daemonSet: DaemonSet, nodeName: string, hash: string): Pod {
  const { template } = daemonSet.spec
  const pod = podFromTemplate(daemonSet, template)
  const generation = daemonSet.metadata.annotations?.[templateGenerationAnnotation]
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: {
        ...pod.metadata.labels,
        ...(generation === undefined ? {} : { [templateGenerationLabel]: generation }),
        [revisionHashLabel]: hash,
      },
    },
    spec: {
      ...template.spec,
      affinity: onNode(template.spec.affinity, nodeName),
      tolerations: daemonTolerations(template.spec),
    },
  }
}

/** The hashes that pods of a daemon set may carry. */
export interface RevisionHashes {
  readonly present: string
  /** Of the other templates that are known. */
  readonly former: ReadonlySet<string>
}

/**
 * Whether a pod is of the present template: by the hash of its revision or by the count of template changes (upstream's
 * IsPodUpdated). Every set counts from 1, so the label of a pod that another set made is that set's count and says nothing: with it
 * alone an adopted pod would be taken for updated whatever it runs. Such a pod is of another template that is known, as revisions are
 * adopted with pods, or it is older than the set.
 */
export function isUpToDate({ metadata: set }: DaemonSet, { metadata: pod }: Pod, hashes: RevisionHashes): boolean {
  const hash = pod.labels?.[revisionHashLabel]
  if (hash === hashes.present) return true
  if (hash !== undefined && hashes.former.has(hash)) return false
  const generation = set.annotations?.[templateGenerationAnnotation]
  if (generation === undefined || pod.labels?.[templateGenerationLabel] !== generation) return false
  return (timeOf(pod.creationTimestamp) ?? 0) >= (timeOf(set.creationTimestamp) ?? 0)
}

/** The node that a pod of a daemon set is on, or is for. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    const named = matchFields.find(({ key, operator }) => key === nodeNameField && operator === 'In')
    if (named?.values?.length === 1) return named.values[0]
  }
  return undefined
}

/** Replaces what the template requires of nodes, which this node has been found to satisfy. */
function onNode(affinity: PodSpec['affinity'], nodeName: string): PodSpec['affinity'] {
  const term: NodeSelectorTerm = { matchFields: [{ key: nodeNameField, operator: 'In', values: [nodeName] }] }
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
    },
  }
}

function isSame(a: Toleration, b: Toleration): boolean {
  return a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '')
}
