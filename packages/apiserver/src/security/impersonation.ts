import { badRequest } from '@coracle/api'
import { impersonationPrefix } from './asks-to-impersonate.ts'

/** Whom a request is to count as made by, as its headers say it. */
export interface AskedUser {
  readonly name: string
  readonly groups: readonly string[]
  /** Empty where none is asked for. */
  readonly uid: string
  readonly extra: ReadonlyMap<string, readonly string[]>
}

/**
 * Acting as someone else (`kubectl --as`, `--as-group`, `--as-uid`, `--as-user-extra`): the `Impersonate-User`, `-Group`,
 * `-Uid` and `-Extra-<key>` headers, as upstream's endpoints/filters/impersonation. `rawHeaders` are names and values in turn.
 * Undefined where there are none. Throws a BadRequest where they name no user. Who may do so is for `actAs` to judge.
 */
export function askedUser(rawHeaders: readonly string[]): AskedUser | undefined {
  let asked: Asked | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const lower = name.toLowerCase()
    if (!lower.startsWith(impersonationPrefix)) continue
    asked ??= { name: '', groups: [], uid: '', extra: new Map() }
    take(asked, lower.slice(impersonationPrefix.length), rawHeaders[at + 1] ?? '')
  }
  if (asked === undefined) return undefined
  const { name, groups, uid, extra } = asked
  if (name !== '') return asked
  if (groups.length === 0 && uid === '' && extra.size === 0) return undefined
  throw badRequest(`requested ${goSyntaxOf(asked)} without impersonating a user name`)
}

/** The user that was asked for as Go would write it. */
function goSyntaxOf({ name, uid, groups, extra }: AskedUser): string {
  const list = (values: readonly string[]) => `[]string{${values.map((each) => JSON.stringify(each)).join(', ')}}`
  const members = [...extra]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`)
  const groupText = groups.length === 0 ? '[]string(nil)' : list(groups)
  const extraText = extra.size === 0 ? '(nil)' : `{${members.join(', ')}}`
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${groupText}, Extra:map[string][]string${extraText}}`
}

const extraPrefix = 'extra-'

interface Asked extends AskedUser {
  name: string
  readonly groups: string[]
  uid: string
  readonly extra: Map<string, string[]>
}

/** Of headers that can have one value the first counts. */
function take(asked: Asked, what: string, value: string): void {
  if (what === 'user') asked.name ||= value
  else if (what === 'uid') asked.uid ||= value
  else if (what === 'group') asked.groups.push(value)
  else if (what.startsWith(extraPrefix)) {
    const key = unescaped(what.slice(extraPrefix.length))
    const values = asked.extra.get(key)
    if (values === undefined) asked.extra.set(key, [value])
    else values.push(value)
  }
}

/** Keys have characters that header names have not, which are percent-encoded. What is wrongly encoded is taken as it is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
