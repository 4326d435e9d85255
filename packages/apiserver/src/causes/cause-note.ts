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

export function encodeCause(timeMs: number, origin: WriteOrigin, changes: readonly NotedChange[]): Uint8Array {
  const { context, verb, subresource, fieldManager, admission } = origin
  const { because, reconcile } = context.claim ?? {}
  const note: CauseNote = {
    t: timeMs,
    user: context.user.name,
    agent: textOf(context.userAgent),
    audit: textOf(context.auditId),
    manager: textOf(fieldManager),
    verb,
    sub: textOf(subresource),
    admission: admission?.length === 0 ? undefined : admission,
    because: because === undefined ? undefined : shortened(because),
    reconcile,
    did: changes,
  }
  return Buffer.from(JSON.stringify(note))
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

const textOf = (text = ''): string | undefined => (text === '' ? undefined : text.slice(0, clientTextMax))
