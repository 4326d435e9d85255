import type { Strategy } from '../../../stored-kind.ts'
import type { LabelSelector, LabelSelectorRequirement } from '../common.ts'
import type { Affinity, PodAffinity, PodAffinityTerm } from './affinity.ts'
import { withAppArmorFields } from './app-armor-fields.ts'
import { withoutDisabledFields } from './disabled-fields.ts'
import { computeQos } from './pod-qos.ts'
import type { Pod } from './pod-schema.ts'
import type { PodSpec } from './pod-spec.ts'
import type { PodCondition, PodStatus } from './pod-status.ts'
import { validatePodStatusUpdate } from './pod-status-validation.ts'
import { validatePodUpdate } from './pod-update-validation.ts'
import { validatePod, validatePodCreate } from './pod-validation.ts'
import { podStatusWarnings, podWarnings } from './pod-warnings.ts'

/** How writes change pods (registry/core/pod podStrategy). */
export const podStrategy: Strategy<Pod> = {
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate,
  validate: validatePod,
  validateCreate: validatePodCreate,
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatusUpdate,
  warnings: podWarnings,
  statusWarnings: podStatusWarnings,
  gracePeriodSeconds: podGracePeriodSeconds,
  countsGenerations: true,
}

/** A new pod is pending, whatever it says of itself. */
function prepareForCreate(given: Pod): Pod {
  const pod = withAppArmorFields(given)
  const qosClass = computeQos(pod.spec)
  const gated = (pod.spec.schedulingGates ?? []).length > 0
  return {
    ...pod,
    spec: mergeLabelKeys(withoutDisabledFields(pod.spec), pod.metadata.labels ?? {}),
    status: { phase: 'Pending', ...(gated ? { conditions: [gatedCondition] } : {}), qosClass },
  }
}

function prepareForUpdate(pod: Pod, old: Pod): Pod {
  const spec = withoutDisabledFields(pod.spec, old.spec)
  return spec === pod.spec ? pod : { ...pod, spec }
}

const gatedCondition: PodCondition = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
}

/** The node agent says how the pod is, not what it is, nor whose. */
function prepareForStatusUpdate(pod: Pod, old: Pod): Pod {
  const status = withGenerations(withAddresses({ ...pod.status }), old.status ?? {})
  return {
    ...pod,
    spec: old.spec,
    status: withOld(status, old.status ?? {}, [
      ...(status.qosClass ? [] : ['qosClass' as const]),
      ...(status.observedGeneration ? [] : ['observedGeneration' as const]),
    ]),
  }
}

/** `podIP` and `podIPs` say the same: where they differ, the older field counts (conversion of core/v1). */
function withAddresses(status: PodStatus): PodStatus {
  const { podIP = '', podIPs = [] } = status
  if (podIP === '') return podIPs[0]?.ip === undefined ? status : { ...status, podIP: podIPs[0].ip }
  return podIPs[0]?.ip === podIP ? status : { ...status, podIPs: [{ ip: podIP }] }
}

/** A condition that does not say what generation it is about is about that of the old one of its type, the first about the first's. */
function withGenerations(status: PodStatus, old: PodStatus): PodStatus {
  const { conditions = [] } = status
  // Node agents say it of each.
  if (conditions.every(({ observedGeneration }) => observedGeneration)) return status
  const left = Map.groupBy(old.conditions ?? [], ({ type }) => type)
  const kept = conditions.map((condition): PodCondition => {
    const observedGeneration = left.get(condition.type)?.shift()?.observedGeneration
    return condition.observedGeneration || !observedGeneration ? condition : { ...condition, observedGeneration }
  })
  return { ...status, conditions: kept }
}

/** A copy of `object` in which these fields are as in `old`. */
function withOld<T extends object>(object: T, old: T, fields: readonly (keyof T)[]): T {
  const copy = { ...object }
  for (const field of fields) {
    if (old[field] === undefined) delete copy[field]
    else copy[field] = old[field]
  }
  return copy
}

/** Seconds a pod has to end: what was asked for or what it says itself, but none where nothing of it can be running. */
function podGracePeriodSeconds(pod: Pod, requestedSeconds: number | undefined): number {
  const { phase } = pod.status ?? {}
  if (!pod.spec.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0
  const seconds = requestedSeconds ?? Number(pod.spec.terminationGracePeriodSeconds ?? 0)
  return seconds < 0 ? 1 : seconds
}

type Labels = Readonly<Record<string, string>>

/** Puts the pod's own labels, as matchLabelKeys and mismatchLabelKeys name them, into the selectors: https://kep.k8s.io/3633. */
function mergeLabelKeys(spec: PodSpec, labels: Labels): PodSpec {
  const { affinity, topologySpreadConstraints } = spec
  const spread = topologySpreadConstraints?.map((each) =>
    each.matchLabelKeys === undefined
      ? each
      : {
          ...each,
          labelSelector: addRequirements(each.labelSelector, requirements(each.matchLabelKeys, 'In', labels)),
        },
  )
  return {
    ...spec,
    ...(affinity === undefined ? {} : { affinity: mergeAffinityKeys(affinity, labels) }),
    ...(spread === undefined ? {} : { topologySpreadConstraints: spread }),
  }
}

function mergeAffinityKeys(affinity: Affinity, labels: Labels): Affinity {
  const { podAffinity, podAntiAffinity } = affinity
  return {
    ...affinity,
    ...(podAffinity && { podAffinity: mergeTermsKeys(podAffinity, labels) }),
    ...(podAntiAffinity && { podAntiAffinity: mergeTermsKeys(podAntiAffinity, labels) }),
  }
}

/** Affinity and anti-affinity have the same shape. */
function mergeTermsKeys(terms: PodAffinity, labels: Labels): PodAffinity {
  const needed = terms.requiredDuringSchedulingIgnoredDuringExecution
  const preferred = terms.preferredDuringSchedulingIgnoredDuringExecution
  return {
    ...(preferred && {
      preferredDuringSchedulingIgnoredDuringExecution: preferred.map((each) => ({
        ...each,
        podAffinityTerm: mergeTermKeys(each.podAffinityTerm, labels),
      })),
    }),
    ...(needed && {
      requiredDuringSchedulingIgnoredDuringExecution: needed.map((term) => mergeTermKeys(term, labels)),
    }),
  }
}

function mergeTermKeys(term: PodAffinityTerm, labels: Labels): PodAffinityTerm {
  const added = [
    ...requirements(term.matchLabelKeys ?? [], 'In', labels),
    ...requirements(term.mismatchLabelKeys ?? [], 'NotIn', labels),
  ]
  return { ...term, labelSelector: addRequirements(term.labelSelector, added) }
}

const requirements = (
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: Labels,
): readonly LabelSelectorRequirement[] =>
  keys.flatMap((key) => {
    const value = labels[key]
    return value === undefined ? [] : [{ key, operator, values: [value] }]
  })

/** Without a selector there is nothing to narrow; validation has its say about that. */
function addRequirements(
  selector: LabelSelector | undefined,
  added: readonly LabelSelectorRequirement[],
): LabelSelector | undefined {
  if (selector === undefined || added.length === 0) return selector
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...added] }
}
