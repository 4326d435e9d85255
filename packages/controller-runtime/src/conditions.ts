import { formatTime } from '@coracle/api'
import type { Time } from '@coracle/environment'

/** A condition as objects carry it in `status.conditions`: one aspect of their state, readable by people and programs. */
export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly lastTransitionTime?: string | undefined
  readonly observedGeneration?: number | undefined
}

/** The condition of a type. */
export function getCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): C | undefined {
  for (const condition of conditions ?? []) if (condition.type === type) return condition
  return undefined
}

/** Whether there is a condition of this type with status True. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === 'True'
}

/**
 * The conditions with one set. `lastTransitionTime` moves only when the status changes. The very same list comes back
 * when nothing changes, so that an unchanged status is recognised and not written.
 */
export function setCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  wanted: C,
  now: Time,
): readonly C[]
/** The same, where every condition of the kind has a `lastTransitionTime`: it need not be given. */
export function setCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  wanted: Omit<C, 'lastTransitionTime'>,
  now: Time,
): readonly C[]
export function setCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  wanted: Omit<C, 'lastTransitionTime'>,
  now: Time,
): readonly C[] {
  const list = conditions ?? []
  const old = getCondition(list, wanted.type)
  const lastTransitionTime =
    old?.status === wanted.status ? (old.lastTransitionTime ?? formatTime(now)) : formatTime(now)
  // All that a condition of this kind has but the time was given.
  const condition = { ...wanted, lastTransitionTime } as C
  if (old === undefined) return [...list, condition]
  return isSame(old, condition) ? list : list.map((each) => (each === old ? condition : each))
}

/** The conditions without one type. */
export function removeCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): readonly C[] {
  const list = conditions ?? []
  return getCondition(list, type) === undefined ? list : list.filter((condition) => condition.type !== type)
}

function isSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.lastTransitionTime === b.lastTransitionTime &&
    a.observedGeneration === b.observedGeneration
  )
}
