import { isJsonObject, parseTime } from '@coracle/api'
import type { Facts } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'

/** A controller has seen a change well before so many milliseconds, if it runs. */
const observedAfterMs = 30_000

/** The controller of a kind says up to which change it has seen an object, and that is not the latest. */
export function notObserved({ object, causes, nowMs }: Facts): Diagnosis | undefined {
  const { status } = object as { readonly status?: unknown }
  const { generation, deletionTimestamp } = object.metadata
  const observed = isJsonObject(status) ? status.observedGeneration : undefined
  if (typeof observed !== 'number' || generation === undefined || observed >= generation) return undefined
  if (deletionTimestamp !== undefined) return undefined
  const changedAt = causes.find(({ request }) => request.subresource !== 'status')?.metadata.creationTimestamp
  const isFresh = changedAt !== undefined && nowMs - parseTime(changedAt) < observedAfterMs
  return {
    reason: 'NotObserved',
    what: 'its latest change has no effect yet',
    because: `its status is of generation ${observed}, and its generation is ${generation}`,
    remedy: isFresh ? 'its controller sees the change in a moment' : 'see that the controller of its kind runs',
    state: isFresh ? 'waiting' : 'stuck',
  }
}
