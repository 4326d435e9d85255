import { type Condition, isJsonObject } from '@coracle/api'
import type { Explainer, Facts } from './facts.ts'

/** What can hold up an object of any kind. */
export const objectExplainers: readonly Explainer[] = [heldByFinalizers]

const finalizerWork: Readonly<Record<string, string>> = {
  foregroundDeletion: 'the garbage collector removes it when all dependents are gone: look for those that do not go',
  orphan: 'the garbage collector removes it when all dependents are free of this owner',
  'kubernetes.io/pvc-protection': 'it is removed when no pod uses the claim any more: delete the pods that do',
  'kubernetes.io/pv-protection': 'it is removed when no claim is bound to the volume any more',
}

function heldByFinalizers({ object: { metadata } }: Facts) {
  const { deletionTimestamp, finalizers = [] } = metadata
  const [first] = finalizers
  if (deletionTimestamp === undefined || first === undefined) return undefined
  const known = finalizers.map((finalizer) => finalizerWork[finalizer]).find((work) => work !== undefined)
  return {
    what: 'it is being deleted and does not go',
    because: `${finalizers.length === 1 ? 'a finalizer holds' : 'finalizers hold'} it: ${finalizers.join(', ')}`,
    remedy: known ?? `whoever set ${first} removes it when done: see that this controller runs`,
  }
}

/** A condition of an object by its type. */
export function conditionOf({ object }: Facts, type: string): Condition | undefined {
  const { status } = object as { readonly status?: unknown }
  const conditions = isJsonObject(status) && Array.isArray(status.conditions) ? status.conditions : []
  return (conditions as readonly unknown[] as readonly Condition[]).find((condition) => condition.type === type)
}

/** What a condition says of itself, in words. */
export const saidBy = ({ reason = '', message = '' }: Pick<Condition, 'reason' | 'message'>): string =>
  message === '' ? reason : message
