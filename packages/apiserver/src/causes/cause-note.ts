import { type CauseClaim, type CausedChange, type ReconcileOrigin, shortened } from '@coracle/api'
import type { RequestContext } from '../request.ts'

/** What a transaction is written for, as its writers know it. */
export interface WriteOrigin {
  readonly context: RequestContext
  readonly verb: 'create' | 'update' | 'delete'
  readonly subresource: string
  /** As the request names it; empty where it does not. */
  readonly fieldManager: string
  /** Admission plugins that changed what was asked for. */
  readonly admission?: readonly string[]
}

/** A change as a note holds it: what is done, the storage key behind `/registry/`, and the object's uid. */
export type NotedChange = readonly [operation: CausedChange['operation'], key: string, uid: string]

/** Longest of each text that a client chooses, in characters: its user agent, its field manager, its name for the request. */
const clientTextMax = 256

/**
 * The note of a transaction: JSON, since operators read it in etcd, with short names and nothing that is empty. What recurs in notes
 * is for the store to keep once.
 */
interface CauseNote {
  /** Milliseconds since 1970. */
  readonly t: number
  readonly user: string
  readonly agent?: string | undefined
  readonly audit?: string | undefined
  readonly manager?: string | undefined
  readonly verb: WriteOrigin['verb']
  readonly sub?: string | undefined
  readonly admission?: readonly string[] | undefined
  readonly because?: string | undefined
  readonly reconcile?: ReconcileOrigin | undefined
  readonly did: readonly NotedChange[]
}

/** What a note tells. */
export interface NotedCause {
  readonly timeMs: number
  readonly origin: WriteOrigin
  readonly changes: readonly NotedChange[]
}

/** A `CauseNote` in bytes. Put together by hand: most of its texts recur, and their JSON is had at half the cost of all of it. */
export function encodeCause(timeMs: number, origin: WriteOrigin, changes: readonly NotedChange[]): Uint8Array {
  const { context, verb, subresource, fieldManager, admission = [] } = origin
  const { because, reconcile } = context.claim ?? {}
  let note = `{"t":${timeMs},"user":${quoted(context.user.name)}`
  note += textMember('agent', context.userAgent)
  // Of every request another.
  if (context.auditId) note += `,"audit":${JSON.stringify(context.auditId.slice(0, clientTextMax))}`
  note += `${textMember('manager', fieldManager)},"verb":"${verb}"${textMember('sub', subresource)}`
  if (admission.length > 0) note += `,"admission":${JSON.stringify(admission)}`
  if (because !== undefined) note += `,"because":${JSON.stringify(shortened(because))}`
  if (reconcile !== undefined) note += `,"reconcile":${JSON.stringify(reconcile)}`
  return Buffer.from(`${note},"did":${JSON.stringify(changes)}}`)
}

const textMember = (name: keyof CauseNote, text = ''): string =>
  text === '' ? '' : `,"${name}":${quoted(text.slice(0, clientTextMax))}`

/** The JSON of so many texts is kept, such as the names of users; beyond that all are forgotten. */
const quotedTextsMax = 256
const quotedTexts = new Map<string, string>()

function quoted(text: string): string {
  const known = quotedTexts.get(text)
  if (known !== undefined) return known
  const json = JSON.stringify(text)
  // What is longer than any text that a client chooses is no name that recurs.
  if (text.length > clientTextMax) return json
  if (quotedTexts.size >= quotedTextsMax) quotedTexts.clear()
  quotedTexts.set(text, json)
  return json
}

/** Throws a SyntaxError for what is no note of this kind. */
export function decodeCause(note: Uint8Array): NotedCause {
  const text = Buffer.from(note.buffer, note.byteOffset, note.byteLength).toString()
  const {
    t,
    user,
    agent = '',
    audit,
    manager = '',
    verb,
    sub = '',
    admission,
    because,
    reconcile,
    did,
  } = JSON.parse(text) as CauseNote
  const claim: CauseClaim = {
    ...(because === undefined ? {} : { because }),
    ...(reconcile === undefined ? {} : { reconcile }),
  }
  return {
    timeMs: t,
    origin: {
      context: {
        user: { name: user, groups: [] },
        userAgent: agent,
        claim,
        ...(audit === undefined ? {} : { auditId: audit }),
      },
      verb,
      subresource: sub,
      fieldManager: manager,
      ...(admission === undefined ? {} : { admission }),
    },
    changes: did,
  }
}
