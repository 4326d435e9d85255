import { type Condition, isJsonObject, type KubernetesObject, parseTime } from '@coracle/api'

/** The conditions of an object of any kind. */
export function conditionsOf(object: KubernetesObject): readonly Condition[] {
  const { status } = object as { readonly status?: unknown }
  const conditions = isJsonObject(status) && Array.isArray(status.conditions) ? status.conditions : []
  return conditions as readonly unknown[] as readonly Condition[]
}

/** A condition of an object by its type. */
export const conditionOf = (object: KubernetesObject, type: string): Condition | undefined =>
  conditionsOf(object).find((condition) => condition.type === type)

export const isTrue = (object: KubernetesObject, type: string): boolean => conditionOf(object, type)?.status === 'True'

/** What a condition, or an event, says of itself, in words. */
export const saidBy = ({
  reason = '',
  message = '',
}: {
  readonly reason?: string
  readonly message?: string
}): string => (message === '' ? reason : message)

/** Milliseconds since a time as objects have it; 0 where there is none. */
export function sinceMs(time: string | undefined, nowMs: number): number {
  const ms = time === undefined ? Number.NaN : parseTime(time)
  return Number.isNaN(ms) ? 0 : Math.max(0, nowMs - ms)
}
