import { builtinResources, type KubernetesObject, type Namespace, type Resource } from '@coracle/api'
import { conditionOf, saidBy } from '../conditions.ts'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { isGoing } from '../owners.ts'

type NamespaceFacts = Facts<Namespace>

export const namespaceRules: KindRules<Namespace> = {
  reads: (namespace) => remaining(namespace).map((resource) => ({ resource, namespace: namespace.metadata.name })),
  rules: [holdsContent],
  leads: held,
}

/** Kinds of which something is left, as the namespace's condition counts them. Those that are built in can be looked at. */
function remaining(namespace: Namespace): readonly Resource[] {
  const { message = '' } = conditionOf(namespace, 'NamespaceContentRemaining') ?? {}
  const named = [...message.matchAll(/([a-z0-9-]+)\.([a-z0-9.-]*) has \d+ resource instances/g)]
  return named.flatMap(
    ([, plural, group]) =>
      builtinResources.find((resource) => resource.plural === plural && resource.group === group) ?? [],
  )
}

/** What is left and held by somebody. */
function held({ object, some }: NamespaceFacts): readonly KubernetesObject[] {
  if (!isGoing(object)) return []
  return remaining(object).flatMap((resource) => some(resource).filter(isGoing))
}

/** What is left, said by what holds it: finalizers say more than counts. */
const reasons = [
  [
    'NamespaceDeletionDiscoveryFailure',
    'DiscoveryFailed',
    'see that all API services answer: `coracle get apiservices`',
  ],
  [
    'NamespaceDeletionContentFailure',
    'ContentDeletionFailed',
    'mend what the message names: the deletion is tried again',
  ],
  [
    'NamespaceFinalizersRemaining',
    'ContentHeldByFinalizers',
    'whoever set the finalizers removes them when done: see that these controllers run',
  ],
  ['NamespaceContentRemaining', 'ContentRemains', 'ask why of the objects that are left'],
] as const

function holdsContent({ object }: NamespaceFacts): Diagnosis | undefined {
  if (!isGoing(object)) return undefined
  for (const [type, reason, remedy] of reasons) {
    const condition = conditionOf(object, type)
    if (condition?.status !== 'True') continue
    return { reason, what: 'it is being deleted and does not go', because: saidBy(condition), remedy, isSymptom: true }
  }
  return undefined
}
