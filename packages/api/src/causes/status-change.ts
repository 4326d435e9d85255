import { deepEqual } from '../equality.ts'

/** Most members of a status that are named one by one. */
const namedMax = 4

interface ConditionLike {
  readonly type: string
  readonly status: string
  readonly reason?: string
}

/** What a new status says that the old one did not, in words: `readyReplicas 2 → 3, condition Available is True`. */
export function describeStatusChange(before: unknown, after: unknown): string {
  const [old, next] = [membersOf(before), membersOf(after)]
  const told: string[] = []
  const tell = (name: string): void => {
    const [was, is] = [old[name], next[name]]
    if (was === is || deepEqual(was, is)) return
    if (name === 'conditions') told.push(...conditionChanges(was, is))
    else told.push(memberChange(name, was, is))
  }
  for (const name of Object.keys(old)) tell(name)
  for (const name of Object.keys(next)) if (!Object.hasOwn(old, name)) tell(name)
  if (told.length === 0) return 'the observed state has changed'
  const more = told.length - namedMax
  return told.slice(0, namedMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

const membersOf = (status: unknown): Readonly<Record<string, unknown>> =>
  typeof status === 'object' && status !== null ? (status as Readonly<Record<string, unknown>>) : {}

function memberChange(name: string, before: unknown, after: unknown): string {
  if (after === undefined) return `no ${name}`
  if (typeof after === 'object' || typeof before === 'object') return `${name} changed`
  return before === undefined ? `${name} is ${after}` : `${name} ${before} → ${after}`
}

function conditionChanges(before: unknown, after: unknown): readonly string[] {
  const [old, next] = [conditionsOf(before), conditionsOf(after)]
  const changes: string[] = []
  for (const { type, status, reason } of next) {
    const known = old.find((condition) => condition.type === type)
    const because = reason === undefined || reason === '' ? '' : ` (${reason})`
    if (known?.status !== status) changes.push(`condition ${type} is ${status}${because}`)
    else if (known.reason !== reason) changes.push(`condition ${type} is still ${status}${because}`)
  }
  for (const { type } of old) {
    if (!next.some((condition) => condition.type === type)) changes.push(`no condition ${type}`)
  }
  // Times or messages alone.
  return changes.length === 0 ? ['conditions changed'] : changes
}

const conditionsOf = (conditions: unknown): readonly ConditionLike[] => (Array.isArray(conditions) ? conditions : [])
