import { type Namespace, type NamespaceStatus, namespaceFinalizer, namespaces } from '@coracle/api'
import { type Condition, getCondition, type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import type { NamespaceContent } from './content.ts'

/**
 * When to look again at a namespace that is not empty, though nothing has been seen to go: it may hold kinds that are not
 * watched.
 */
export const contentCheckMs = 5000

/** Lets an empty namespace go, and says of another what it waits for (upstream: NamespacedResourcesDeleter). Pure. */
export function planNamespace(namespace: Namespace, content: NamespaceContent, nowMs: Time): Plan<NamespaceStatus> {
  const conditions = conditionsOf(content)
  const status = statusWith(namespace, conditions, nowMs)
  if (content.remaining.length > 0 || content.errors.length > 0 || content.unknown !== undefined) {
    return { actions: [], status, requeueAfterMs: contentCheckMs }
  }
  const finalizers = namespace.spec?.finalizers?.filter((finalizer) => finalizer !== namespaceFinalizer) ?? []
  // Others may hold the namespace for long: it must not go on telling of content that has gone.
  const isHeld = finalizers.length > 0 || (namespace.metadata.finalizers ?? []).length > 0
  if (isHeld && !tells(namespace, conditions)) return { actions: [], status, requeueAfterMs: 0 }
  return {
    actions: [
      {
        type: 'update',
        resource: namespaces,
        object: { ...namespace, spec: { ...namespace.spec, finalizers } } as Namespace,
        subresource: 'finalize',
        because: 'nothing is left in the namespace',
      },
    ],
  }
}

const tells = ({ status }: Namespace, conditions: readonly Condition[]): boolean =>
  conditions.every((wanted) => {
    const told = getCondition(status?.conditions, wanted.type)
    return told?.status === wanted.status && told.reason === wanted.reason && told.message === wanted.message
  })

function statusWith({ status }: Namespace, wanted: readonly Condition[], nowMs: Time): NamespaceStatus {
  const old: readonly Condition[] = status?.conditions ?? []
  const conditions = wanted.reduce((list, condition) => setCondition(list, condition, nowMs), old)
  return { ...status, phase: 'Terminating', conditions }
}

function conditionsOf({ remaining, errors, unknown }: NamespaceContent): readonly Condition[] {
  const resources = remaining
    .map(({ resource, count }) => `${resource.plural}.${resource.group} has ${count} resource instances`)
    .sort()
  const finalizers = [...totalFinalizers(remaining)]
    .map(([finalizer, count]) => `${finalizer} in ${count} resource instances`)
    .sort()
  return [
    unknown === undefined
      ? fine('NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered')
      : {
          type: 'NamespaceDeletionDiscoveryFailure',
          status: 'True',
          reason: 'DiscoveryFailed',
          message: unknown,
        },
    fine(
      'NamespaceDeletionGroupVersionParsingFailure',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    errors.length === 0
      ? fine(
          'NamespaceDeletionContentFailure',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        )
      : {
          type: 'NamespaceDeletionContentFailure',
          status: 'True',
          reason: 'ContentDeletionFailed',
          message: `Failed to delete all resource types, ${errors.length} remaining: ${errors.join(', ')}`,
        },
    resources.length === 0
      ? fine('NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed')
      : {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: `Some resources are remaining: ${resources.join(', ')}`,
        },
    finalizers.length === 0
      ? fine('NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished')
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}`,
        },
  ]
}

const fine = (type: string, reason: string, message: string): Condition => ({ type, status: 'False', reason, message })

function totalFinalizers(remaining: NamespaceContent['remaining']): ReadonlyMap<string, number> {
  const totals = new Map<string, number>()
  for (const { finalizers } of remaining) {
    for (const [finalizer, count] of finalizers) totals.set(finalizer, (totals.get(finalizer) ?? 0) + count)
  }
  return totals
}
