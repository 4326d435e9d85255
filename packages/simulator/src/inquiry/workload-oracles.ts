import type { DaemonSet, Deployment, Job, KubernetesObject, Pod, StatefulSet } from '@coracle/api'
import type { Finding } from '@coracle/why'
import { isReady } from '../view.ts'
import {
  conditionOf,
  eventSays,
  isGoing,
  nodeNamed,
  type Oracle,
  podNamed,
  podsOf,
  says,
  taintsOf,
  unless,
  type World,
} from './oracle.ts'

/** The counts that are told are those of the pods that are there, or of the status. */
const counts: Oracle = ({ what }, object, { view }) => {
  if (isGoing(object)) return 'it is being deleted'
  const [, told = '', of = '', state = ''] =
    /^(?:its status counts )?(\d+)(?: of (\d+))? pods (are ready|as available|as succeeded)/.exec(what) ?? []
  const own = podsOf(object, view).filter((pod) => !isGoing(pod))
  const { spec, status } = object as Deployment & DaemonSet & Job
  const wanted =
    object.kind === 'DaemonSet' ? (status?.desiredNumberScheduled ?? 0) : (spec.completions ?? spec.replicas ?? 1)
  const actual =
    state === 'are ready'
      ? own.filter(isReady).length
      : state === 'as succeeded'
        ? (status?.succeeded ?? 0)
        : (status?.numberAvailable ?? status?.availableReplicas ?? 0)
  return unless(told === String(actual) && (of === '' || of === String(wanted)), `${actual} of ${wanted} are`)
}

/** Pods are refused: fewer are there than are to be, and an event or a condition quotes why. */
const refusal: Oracle = (finding, object, world) => {
  const { because } = finding
  const condition = conditionOf(object, 'ReplicaFailure')
  if (condition?.status === 'True')
    return unless(because === condition.message, `the condition says: ${condition.message}`)
  return eventSays(finding, object, world)
}

/** Some of its pods are of an older revision. */
function outdated(_: Finding, object: KubernetesObject, { view }: World): string | undefined {
  const { status } = object as StatefulSet
  const own = podsOf(object, view)
  const isOld = ({ metadata }: Pod) => metadata.labels?.['controller-revision-hash'] !== status?.updateRevision
  return unless(own.some(isOld), 'all of its pods are of the latest')
}

/** Findings about what makes pods, by their reasons. */
export const workloadOracles: Readonly<Record<string, Oracle>> = {
  UnderWay: counts,
  ...Object.fromEntries(
    [
      'QuotaExceeded',
      'QuotaNeedsValues',
      'CreationRefused',
      'NamespaceTerminating',
      'TemplateInvalid',
      'DeletionRefused',
    ].map((reason) => [reason, refusal]),
  ),
  Paused: (_, object) =>
    unless((object as { readonly spec?: { readonly paused?: boolean } }).spec?.paused === true, 'it is not paused'),
  ReplicaSetRefused: says('Progressing', 'False', 'ReplicaSetCreateError'),
  ProgressDeadlineExceeded: says('Progressing', 'False', 'ProgressDeadlineExceeded'),
  MinReadySeconds: (_, object) => {
    const { spec, status } = object as Deployment
    return unless((status?.availableReplicas ?? 0) < (spec.replicas ?? 1), 'all are available')
  },
  WaitsForOrdinal: ({ because }, object, world) => {
    const pod = podNamed(world, object.metadata.namespace, /pod (\S+) is/.exec(because)?.[1])
    return unless(pod !== undefined && (isGoing(pod) || !isReady(pod)), 'that pod is ready, or not there')
  },
  HeldByPartition: outdated,
  UpdatedOnDelete: (finding, object, world) => {
    if (object.kind !== 'DaemonSet') return outdated(finding, object, world)
    const { updatedNumberScheduled = 0, desiredNumberScheduled } = (object as DaemonSet).status ?? {}
    return unless(
      finding.what.includes(` ${updatedNumberScheduled} of ${desiredNumberScheduled} `),
      'its status says otherwise',
    )
  },
  NodesNotMatched: ({ because }, object, world) => {
    const wanted = (object as DaemonSet).spec.template.spec?.tolerations ?? []
    for (const [, name = '', taint = ''] of because.matchAll(/(\S+): it is tainted (\S+?)(?:;|$)/g)) {
      const node = nodeNamed(world, name)
      const taints = taintsOf(node)
      if (!taints.includes(taint)) return `node ${name} is not tainted ${taint}`
      if (wanted.some(({ key }) => taint.startsWith(`${key}`))) return `its pods tolerate ${taint}`
    }
    return undefined
  },
}
