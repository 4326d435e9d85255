import { deepEqual } from '../equality.ts'

/** Refusals show no more differences than this. */
export const changesMax = 20

/** The fields that differ, each with what it was (-) and what it would be (+), a line each: for refusals of changes. */
export function describeChanges(old: unknown, changed: unknown): readonly string[] {
  return changesBelow(old, changed, '').slice(0, changesMax)
}

function changesBelow(old: unknown, changed: unknown, path: string): readonly string[] {
  if (deepEqual(old, changed)) return []
  if (!isContainer(old) || !isContainer(changed) || Array.isArray(old) !== Array.isArray(changed)) {
    const line = (sign: string, value: unknown) =>
      value === undefined ? [] : [`${sign} ${path}: ${JSON.stringify(value)}`]
    return [...line('-', old), ...line('+', changed)]
  }
  const keys = new Set([...Object.keys(old), ...Object.keys(changed)])
  const pathOf = (key: string): string =>
    Array.isArray(old) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
  return [...keys].flatMap((key) => changesBelow(old[key], changed[key], pathOf(key)))
}

const isContainer = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
