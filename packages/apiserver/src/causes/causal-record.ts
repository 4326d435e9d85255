import {
  type Cause,
  type CausedChange,
  type CauseList,
  causesGroup,
  causesPlural,
  causesVersion,
  formatTime,
  notFound,
  type ReconcileOrigin,
  type Resource,
} from '@coracle/api'
import type { Note, Revision, Store } from '@coracle/store'
import type { Registries } from '../registries.ts'
import type { Authorizer, User } from '../request.ts'
import { fromStore } from '../store-errors.ts'
import type { WorkTurns } from '../work-turns.ts'
import { decodeCause, type NotedChange } from './cause-note.ts'
import { isComponent } from './cause-recorder.ts'

/** Causes in one answer, unless fewer are asked for, and at most. */
export const causesPageDefault = 100
export const causesPageMax = 500

/** Notes looked at for one answer; where nothing, or too little, is found among them the answer says where to go on. */
export const notesScannedMax = 20_000

const notesReadAtOnce = 500

/** What of the record is asked for: what all that is given holds for. */
export interface CausesQuery {
  /** Only causes of these revisions. */
  readonly revisions?: readonly Revision[]
  /** Only causes of changes of such an object. */
  readonly group?: string
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  /** Only causes of which it holds. */
  readonly matches?: (cause: Cause) => boolean
  /** Only causes of earlier revisions. */
  readonly before?: Revision
  /** Only causes of later revisions: what is new to whoever has read so far. */
  readonly after?: Revision
  readonly limit?: number
}

export interface CausesPage {
  /** Newest first. */
  readonly causes: readonly Cause[]
  /** Where there may be more: only before this revision. */
  readonly before?: Revision
}

export interface CausalRecordParts {
  readonly store: Store
  readonly registries: Registries
  readonly authorizer: Authorizer
  readonly turns: WorkTurns
}

/** Reads the notes of transactions as causes, with the rights of whoever reads: to see why an object changed is to get the object. */
export class CausalRecord {
  readonly #parts: CausalRecordParts

  constructor(parts: CausalRecordParts) {
    this.#parts = parts
  }

  /** The cause of one revision. Rejects with NotFound where there is none, or none that this user may see. */
  async get(user: User, revision: Revision): Promise<Cause> {
    const cause = await this.#at(user, revision)
    if (cause === undefined) throw notFound(causes, String(revision))
    return cause
  }

  async list(user: User, query: CausesQuery): Promise<CausesPage> {
    if (query.revisions !== undefined) return this.#listRevisions(user, query.revisions, query)
    const limit = Math.min(query.limit ?? causesPageDefault, causesPageMax)
    const found: Cause[] = []
    let { before } = query
    const { after = 0 } = query
    for (let scanned = 0; scanned < notesScannedMax; scanned += notesReadAtOnce) {
      await this.#parts.turns.take(true)
      const notes = await this.#notes({ limit: notesReadAtOnce, ...(before === undefined ? {} : { before }) })
      for (const note of notes) {
        if (note.revision <= after) return { causes: found }
        before = note.revision
        const cause = mayConcern(note, query) ? this.#causeOf(user, note) : undefined
        if (cause === undefined || !isWanted(cause, query)) continue
        found.push(cause)
        if (found.length === limit) return { causes: found, before }
      }
      if (notes.length < notesReadAtOnce) return { causes: found }
    }
    return before === undefined ? { causes: found } : { causes: found, before }
  }

  async #listRevisions(user: User, revisions: readonly Revision[], query: CausesQuery): Promise<CausesPage> {
    const found: Cause[] = []
    for (const revision of [...new Set(revisions)].sort((a, b) => b - a)) {
      const cause = await this.#at(user, revision)
      if (cause !== undefined && isWanted(cause, query)) found.push(cause)
    }
    return { causes: found }
  }

  async #at(user: User, revision: Revision): Promise<Cause | undefined> {
    const [note] = await this.#notes({ before: revision + 1, limit: 1 })
    return note?.revision === revision ? this.#causeOf(user, note) : undefined
  }

  async #notes(query: Parameters<Store['notes']>[0]): Promise<readonly Note[]> {
    try {
      return await this.#parts.store.notes(query)
    } catch (error) {
      throw fromStore(error)
    }
  }

  /** What a note tells this user; undefined where that is nothing. */
  #causeOf(user: User, { revision, note }: Note): Cause | undefined {
    const { timeMs, origin, changes: noted } = decodeCause(note)
    const changes = noted.filter((change) => this.#mayGet(user, change)).map((change) => this.#changeOf(change))
    if (changes.length === 0) return undefined
    const { context, verb, subresource, fieldManager, admission } = origin
    const { because, reconcile } = context.claim ?? {}
    const claimed = (because !== undefined || reconcile !== undefined) && !isComponent(context.user.name)
    return {
      apiVersion: 'coracle.dev/v1',
      kind: 'Cause',
      metadata: { name: String(revision), creationTimestamp: formatTime(timeMs) },
      revision,
      changes,
      user: context.user.name,
      request: {
        verb,
        ...(subresource === '' ? {} : { subresource }),
        ...(fieldManager === '' ? {} : { fieldManager }),
        ...(context.userAgent === '' ? {} : { userAgent: context.userAgent }),
        ...(context.auditId === undefined ? {} : { auditID: context.auditId }),
      },
      ...(admission === undefined ? {} : { admission }),
      ...(because === undefined ? {} : { because }),
      ...(reconcile === undefined ? {} : { reconcile: earlier(reconcile, revision) }),
      ...(claimed ? { claimed } : {}),
    }
  }

  #changeOf([operation, path, uid]: NotedChange): CausedChange {
    const { kind, group, resource, namespace, name } = this.#placeOf(path)
    return {
      operation,
      group,
      resource,
      ...(kind === undefined ? {} : { kind: kind.kind }),
      ...(namespace === undefined ? {} : { namespace }),
      name,
      ...(uid === '' ? {} : { uid }),
    }
  }

  /** What a storage key says: `apps/deployments/default/web`. */
  #placeOf(path: string) {
    const [storedGroup = '', resource = '', ...rest] = path.split('/')
    const kind = this.#parts.registries.byStorageKey(`${storedGroup}/${resource}`)?.kind
    const [namespace, name = ''] = rest.length > 1 ? rest : [undefined, rest[0]]
    return { kind, group: kind?.group ?? (storedGroup === 'core' ? '' : storedGroup), resource, namespace, name }
  }

  /** Whether a user may get the object of a change, be it there or not. */
  #mayGet(user: User, [, path]: NotedChange): boolean {
    const { kind, group, resource, namespace = '', name } = this.#placeOf(path)
    const { version = '' } = kind ?? {}
    const named: Resource = { group, version, kind: kind?.kind ?? '', plural: resource, namespaced: namespace !== '' }
    const attributes = { kind: 'resource', verb: 'get', resource: named, subresource: '', namespace, name } as const
    return this.#parts.authorizer.refuse(user, attributes) === undefined
  }
}

const causes = { group: causesGroup, version: causesVersion, kind: 'Cause', plural: causesPlural, namespaced: false }

/** What a reconcile had seen is earlier than what it did: no claim makes it otherwise. */
const earlier = (reconcile: ReconcileOrigin, revision: Revision): ReconcileOrigin => ({
  ...reconcile,
  seen: reconcile.seen.filter((seen) => seen < revision),
})

/** Whether the bytes of a note have what a query asks for at all: most have not, and need not be read. */
function mayConcern({ note }: Note, { uid, name }: CausesQuery): boolean {
  const bytes = Buffer.from(note.buffer, note.byteOffset, note.byteLength)
  return (uid === undefined || bytes.includes(uid)) && (name === undefined || bytes.includes(name))
}

const isWanted = (cause: Cause, query: CausesQuery): boolean =>
  query.matches?.(cause) !== false && cause.changes.some((change) => concerns(change, query))

const concerns = (change: CausedChange, { group, resource, namespace, name, uid }: CausesQuery): boolean =>
  (group === undefined || change.group === group) &&
  (resource === undefined || change.resource === resource) &&
  (namespace === undefined || change.namespace === namespace) &&
  (name === undefined || change.name === name) &&
  (uid === undefined || change.uid === uid)

/** A page as the API has it. */
export const causeListOf = ({ causes: items, before }: CausesPage): CauseList => ({
  apiVersion: 'coracle.dev/v1',
  kind: 'CauseList',
  metadata: before === undefined ? {} : { continue: String(before) },
  items,
})
