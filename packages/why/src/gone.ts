import type { Cause, Event } from '@coracle/api'
import { inOrder } from './events.ts'
import { type Finding, type ObjectReference, shortName } from './finding.ts'
import { refusalOf } from './rules/refusals.ts'

/** Who deleted an object that is gone, by the latest causes of its changes. */
export function goneFindings(object: ObjectReference, causes: readonly Cause[]): readonly Finding[] {
  const own = causes.filter(({ changes }) => changes.some(({ uid }) => object.uid === undefined || uid === object.uid))
  const removed = own.find(({ changes }) =>
    changes.some(({ operation, uid }) => operation === 'delete' && uid === object.uid),
  )
  if (removed === undefined) return []
  // An object that had to end first was marked by whoever asked, and removed by whoever saw that it had ended.
  const asked = own.findLast(({ request }) => request.verb === 'delete') ?? removed
  const isLater = asked.revision !== removed.revision
  const end = isLater ? `; ${saidBy(removed)} removed it at ${timeOf(removed)}, when it had ended` : ''
  return [
    {
      object,
      reason: 'Deleted',
      what: 'it is gone',
      because: `${saidBy(asked)} deleted it at ${timeOf(asked)}${reasonOf(asked)}${end}`,
      remedy: 'what owns it makes another where one is wanted; otherwise create it again',
      state: 'stuck',
    },
  ]
}

const saidBy = ({ reconcile, user }: Cause): string => reconcile?.controller ?? user
const timeOf = ({ metadata }: Cause): string => metadata.creationTimestamp

function reasonOf({ because, reconcile, request }: Cause): string {
  const how = request.subresource === undefined ? '' : ` (${request.subresource})`
  if (because === undefined) return how
  const of = reconcile === undefined ? '' : `${shortName(reconcile.object)}: `
  return `${how}: ${of}${because}`
}

/** An object that never was, where an event tells that it was to be created and was refused. */
export function neverThere(object: ObjectReference, refusals: readonly Event[]): readonly Finding[] {
  const about = inOrder(refusals).findLast(({ message = '' }) => names(message, object.name))
  if (about === undefined) return []
  const { kind = '', name = '' } = about.involvedObject
  const because = about.message ?? ''
  return [
    {
      object,
      ...refusalOf(because),
      what: 'it was to be created, and was refused',
      because: `${shortName({ kind, name })}: ${because}`,
      state: 'stuck',
    },
  ]
}

/** Whether a sentence has a name as a word of its own. */
function names(message: string, name: string): boolean {
  return message.split(/[^a-z0-9.-]+/).some((word) => word === name)
}
