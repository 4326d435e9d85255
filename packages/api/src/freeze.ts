/**
 * Freezes a JSON value and all it contains, and returns it. What is frozen already is taken to be frozen all the way
 * down, so values that share structure are walked once.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
