import type { Facts } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'

/** What has to happen before a well-known finalizer is removed. Its controller does that by itself. */
const finalizerWork: Readonly<Record<string, string>> = {
  foregroundDeletion: 'the garbage collector removes it when all dependents are gone: look for those that do not go',
  orphan: 'the garbage collector removes it when all dependents are free of this owner',
  'kubernetes.io/pvc-protection': 'it is removed when no pod uses the claim any more: delete the pods that do',
  'kubernetes.io/pv-protection': 'it is removed when no claim is bound to the volume any more',
  'kubernetes.io/vac-protection': 'it is removed when no claim or volume names the class any more',
  'batch.kubernetes.io/job-tracking': 'the Job controller removes it when it has counted the pod: see that it runs',
  'service.kubernetes.io/load-balancer-cleanup':
    'it is removed when the load balancer is gone: see that its controller runs',
}

/** A deletion waits for finalizers. */
export function heldByFinalizers({ object: { metadata } }: Facts): Diagnosis | undefined {
  const { deletionTimestamp, finalizers = [] } = metadata
  const [first] = finalizers
  if (deletionTimestamp === undefined || first === undefined) return undefined
  // Whoever has set one of one's own has to come first: nobody else knows when it may go.
  const foreign = finalizers.find((finalizer) => finalizerWork[finalizer] === undefined)
  const work = finalizerWork[first]
  return {
    reason: 'HeldByFinalizer',
    what: 'it is being deleted and does not go',
    because: `${finalizers.length === 1 ? 'a finalizer holds' : 'finalizers hold'} it: ${finalizers.join(', ')}`,
    remedy:
      foreign === undefined && work !== undefined
        ? work
        : `whoever set ${foreign ?? first} removes it when done: see that this controller runs`,
    // What the cluster's own controllers wait for is told first, where it is known.
    ...(foreign === undefined ? { state: 'waiting', isSymptom: true } : {}),
  }
}
