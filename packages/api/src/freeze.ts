/**
 * Freezes a JSON value and all it contains, and returns it. What is frozen already is taken to be frozen all the way
 * down, so values that share structure are walked once.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  for (let index = 0; index < members.length; index += 1) {
    const member = members[index]
    if (typeof member === 'object') deepFreeze(member)
  }
  return Object.freeze(value)
}
