import {
  approvalOf,
  type CustomResourceDefinition,
  type CustomResourceDefinitionCondition,
  type CustomResourceDefinitionStatus,
  customResourceCleanupFinalizer,
  customResourceDefinitions,
  hasTrueCondition,
  isProtectedGroup,
  isReadableCaBundle,
} from '@coracle/api'
import { type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { acceptNames } from './naming.ts'

/** When to look again whether the objects of a definition that is being deleted are gone. */
export const instancesCheckMs = 1000

/** What is left of the objects of a definition that is being deleted. */
export type Instances =
  | { readonly type: 'never-established' }
  | { readonly type: 'remaining'; readonly count: number }
  | { readonly type: 'failed'; readonly message: string }

/** Whether a definition is being deleted and waits for its objects to go. */
export function isAwaitingInstances({ metadata }: CustomResourceDefinition): boolean {
  return (
    metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(customResourceCleanupFinalizer) === true
  )
}

/**
 * Accepts the names of a definition and, once that is stored, establishes it: in two steps, so that the server serves the
 * kind before anybody is told so. Pure.
 */
export function planDefinition(
  definition: CustomResourceDefinition,
  all: readonly CustomResourceDefinition[],
  nowMs: Time,
): Plan<CustomResourceDefinitionStatus> {
  const { status } = definition
  const { accepted, condition } = acceptNames(definition, all)
  const wanted: CustomResourceDefinitionCondition[] = [condition]
  if (!hasTrueCondition(definition, 'Established')) {
    wanted.push(
      condition.status !== 'True'
        ? established('False', 'NotAccepted', 'not all names are accepted')
        : hasTrueCondition(definition, 'NamesAccepted')
          ? establishedWhereTrusted(definition)
          : established('False', 'Installing', 'the initial names have been accepted'),
    )
  }
  wanted.push(...approvalConditions(definition))
  return {
    actions: [],
    status: { ...status, acceptedNames: accepted, conditions: conditionsWith(status, wanted, nowMs) },
  }
}

/** Says how the deletion of a definition's objects goes, and lets it go after them. Pure. */
export function planCleanup(
  definition: CustomResourceDefinition,
  instances: Instances,
  nowMs: Time,
): Plan<CustomResourceDefinitionStatus> {
  const { metadata, status } = definition
  const statusWith = (holds: 'True' | 'False', reason: string, message: string): CustomResourceDefinitionStatus => ({
    ...status,
    conditions: conditionsWith(status, [{ type: 'Terminating', status: holds, reason, message }], nowMs),
  })
  const letGo = (because: string, next: CustomResourceDefinitionStatus): Plan<CustomResourceDefinitionStatus> => {
    const finalizers = metadata.finalizers?.filter((each) => each !== customResourceCleanupFinalizer)
    const object = { ...definition, metadata: { ...metadata, finalizers }, status: next }
    return {
      actions: [{ type: 'update', resource: customResourceDefinitions, object, subresource: 'status', because }],
    }
  }
  switch (instances.type) {
    case 'never-established':
      return letGo('it was never served', statusWith('False', 'NeverEstablished', 'resource was never established'))
    case 'failed':
      return {
        actions: [],
        status: statusWith('True', 'InstanceDeletionFailed', instances.message),
        requeueAfterMs: instancesCheckMs,
      }
    case 'remaining':
      if (instances.count === 0) {
        return letGo(
          'none of its objects is left',
          statusWith('False', 'InstanceDeletionCompleted', 'removed all instances'),
        )
      }
      return {
        actions: [],
        status: statusWith('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
        requeueAfterMs: instancesCheckMs,
      }
  }
}

const established = (status: 'True' | 'False', reason: string, message: string): CustomResourceDefinitionCondition => ({
  type: 'Established',
  status,
  reason,
  message,
})

/** Nobody could convert objects for a webhook whose certificate cannot be checked. */
function establishedWhereTrusted({ spec }: CustomResourceDefinition): CustomResourceDefinitionCondition {
  return isReadableCaBundle(spec.conversion?.webhook?.clientConfig?.caBundle ?? '')
    ? established('True', 'InitialNamesAccepted', 'the initial names have been accepted')
    : established('False', 'InvalidCABundle', 'The conversion webhook CABundle is invalid')
}

function approvalConditions({
  metadata,
  spec,
}: CustomResourceDefinition): readonly CustomResourceDefinitionCondition[] {
  if (!isProtectedGroup(spec.group)) return []
  const { reason, message } = approvalOf(metadata)
  const status = reason === 'ApprovedAnnotation' ? 'True' : 'False'
  return [{ type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message }]
}

function conditionsWith(
  status: CustomResourceDefinitionStatus | undefined,
  wanted: readonly CustomResourceDefinitionCondition[],
  nowMs: Time,
): readonly CustomResourceDefinitionCondition[] {
  return wanted.reduce((list, each) => setCondition(list, each, nowMs), status?.conditions ?? [])
}
