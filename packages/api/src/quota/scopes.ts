/** Which objects a quota is about. Pure. */

import type { PersistentVolumeClaim } from '../kinds/core/persistent-volume-claim/schema.ts'
import type { PodAffinity } from '../kinds/core/pod/affinity.ts'
import { computeQos } from '../kinds/core/pod/pod-qos.ts'
import type { Pod } from '../kinds/core/pod/pod-schema.ts'
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../kinds/core/resource-quota/schema.ts'
import type { KubernetesObject } from '../meta.ts'
import type { Resource } from '../resource.ts'

/** Whether an object is in all the scopes of a quota. What a scope does not speak of is in none. */
export function isInScope(
  { scopes = [], scopeSelector }: ResourceQuotaSpec,
  kind: Pick<Resource, 'group' | 'plural'>,
  object: KubernetesObject,
): boolean {
  const requirements = [
    ...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(scopeSelector?.matchExpressions ?? []),
  ]
  return requirements.every((each) => isIn(each, kind, object))
}

function isIn(
  requirement: ScopedResourceSelectorRequirement,
  { group, plural }: Pick<Resource, 'group' | 'plural'>,
  object: KubernetesObject,
): boolean {
  if (group === '' && plural === 'pods') return isPodIn(requirement, object as Pod)
  if (group !== '' || plural !== 'persistentvolumeclaims' || requirement.scopeName !== 'VolumeAttributesClass') {
    return false
  }
  const present = attributesClassesOfClaim(object as PersistentVolumeClaim)
  return present.length === 0 ? hasValue(requirement, undefined) : present.some((name) => hasValue(requirement, name))
}

/** Whether a pod may be in other scopes than before. All else that scopes of pods look at stays as it was created. */
export const podChangesScope = (old: Pod, pod: Pod): boolean => isTerminating(old) !== isTerminating(pod)

/** Whether a claim may be in other scopes than before: it has another class, or changes to one. */
export function claimChangesScope(old: PersistentVolumeClaim, claim: PersistentVolumeClaim): boolean {
  const [before, after] = [attributesClassesOfClaim(old), attributesClassesOfClaim(claim)]
  return before.some((name) => !after.includes(name)) || after.some((name) => !before.includes(name))
}

/** The classes of a volume's attributes that a claim has, asks for, or is being changed to. */
export function attributesClassesOfClaim({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  return names.flatMap((name) => name || [])
}

const isTerminating = ({ spec }: Pod): boolean => (spec.activeDeadlineSeconds ?? -1) >= 0

function isPodIn(requirement: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  const { spec } = pod
  switch (requirement.scopeName) {
    case 'Terminating':
      return isTerminating(pod)
    case 'NotTerminating':
      return !isTerminating(pod)
    case 'BestEffort':
      return computeQos(spec) === 'BestEffort'
    case 'NotBestEffort':
      return computeQos(spec) !== 'BestEffort'
    case 'CrossNamespacePodAffinity':
      return looksAcross(spec.affinity?.podAffinity) || looksAcross(spec.affinity?.podAntiAffinity)
    case 'PriorityClass':
      return hasValue(requirement, spec.priorityClassName || undefined)
    default:
      return false
  }
}

function hasValue({ operator, values = [] }: ScopedResourceSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}

/** Whether terms of affinity look at pods of other namespaces. */
function looksAcross(affinity: PodAffinity | undefined): boolean {
  const needed = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  return [...needed, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)].some(
    ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
  )
}
