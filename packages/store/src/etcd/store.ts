import { type Environment, sleep } from '@coracle/environment'
import { type Decoded, type Encodable, isServiceError, type Message, type Method } from '@coracle/environment/grpc'
import { status } from '@grpc/grpc-js'
import {
  InvalidTransactionError,
  StoreClosedError,
  StoreFullError,
  StoreOverloadedError,
  StoreRevertedError,
  StoreTimeoutError,
  StoreUnavailableError,
  TransactionTooLargeError,
} from '../errors.ts'
import type { EtcdStoreOptions } from '../etcd-store.ts'
import {
  etcdCallTimeoutMs,
  etcdPageEntriesMax,
  etcdRetryMs,
  notesDefaultMax,
  pendingTransactionsMax,
} from '../limits.ts'
import {
  type CommitResult,
  CompactedError,
  type Entry,
  type Listing,
  type Note,
  type NotesQuery,
  type Operation,
  type Revision,
  type Store,
  type StoreWatch,
  type Transaction,
  type WatchOptions,
} from '../store.ts'
import { checkKey, checkNotesQuery, checkPrefix, checkTransaction, noteBytes } from '../transaction.ts'
import {
  compactionRequest,
  compactionResponse,
  compareModRevision,
  type keyValue,
  rangeRequest,
  rangeResponse,
  type requestOp,
  statusRequest,
  statusResponse,
  txnRequest,
  txnResponse,
} from './api.ts'
import { type CallOptions, Connection } from './connection.ts'
import { KeySpace } from './key-space.ts'
import { EtcdNotes, isNoteKey } from './notes.ts'
import { SharedCall } from './shared-call.ts'
import { tellsProgress } from './versions.ts'
import { EtcdWatch, isMarker, markerName, markerValue } from './watch.ts'

const range = { path: '/etcdserverpb.KV/Range', request: rangeRequest, response: rangeResponse }
const txn = { path: '/etcdserverpb.KV/Txn', request: txnRequest, response: txnResponse }
const compaction = { path: '/etcdserverpb.KV/Compact', request: compactionRequest, response: compactionResponse }
const memberStatus = { path: '/etcdserverpb.Maintenance/Status', request: statusRequest, response: statusResponse }

/** What etcd says of a request beyond its limit (`--max-request-bytes`), and what its gRPC says of one far beyond. */
const tooLarge = /request is too large|received message larger than max/

/** Whether the revision in an answer is as late as all that was answered before the call, by whichever member. */
const isLinearizable = (method: object): boolean => method === range || method === txn

/** How a call is made that may change something. */
const once: CallOptions = { repeatable: false }

/** Finds out whether a transaction was carried out of which nobody has said so, or carries it out; undefined where that stays uncertain. */
type Proof = (how: CallOptions) => Promise<Decoded<typeof txnResponse> | undefined>

const writtenAt = ({ modRevision }: Decoded<typeof keyValue>): Decoded<typeof txnResponse> => ({
  header: { revision: modRevision },
  succeeded: true,
  responses: [],
})

/**
 * Whether a transaction that has been carried out finds its conditions not met from then on: it changes something that must be as it was
 * written at some revision, which never comes again. That there is nothing may come again.
 */
const canHappenOnce = ({ conditions, operations }: Transaction): boolean =>
  conditions.some(({ key, modRevision }) => modRevision > 0 && operations.some((each) => each.key === key))

/** What it says where its database has grown to its quota. */
const full = /database space exceeded/

/** A store in etcd. A transaction is one of etcd's, its revision etcd's own. */
export class EtcdStore implements Store {
  readonly shared = true
  readonly #environment: Environment
  readonly #connection: Connection
  readonly #keys: KeySpace
  readonly #watches = new Set<EtcdWatch>()
  readonly #calls = new Set<Promise<unknown>>()
  readonly #latest: SharedCall<Revision>
  readonly #notes: EtcdNotes
  /** The latest revision that etcd has answered with. */
  #known: Revision = 0
  #failure: StoreRevertedError | undefined
  #closing: Promise<void> | undefined

  constructor(options: EtcdStoreOptions & { readonly environment: Environment }) {
    const { servers, tls, user, environment, prefix = '', notesMax = notesDefaultMax } = options
    this.#environment = environment
    this.#connection = new Connection({ servers, tls, user, clock: environment.clock })
    this.#keys = new KeySpace(prefix)
    this.#notes = new EtcdNotes({
      keys: this.#keys,
      random: environment.random,
      notesMax,
      range: (request) => this.#call(range, request),
      remove: (request) => this.#call(txn, { success: [{ requestDeleteRange: request }] }),
    })
    this.#latest = new SharedCall(() => this.#readRevision())
  }

  async latest(): Promise<Revision> {
    this.#checkOpen()
    return this.#latest.call()
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen()
    checkKey(key)
    const { kvs } = await this.#call(range, { key: this.#keys.bytesOf(key) })
    return kvs[0] === undefined ? undefined : this.#entryOf(kvs[0])
  }

  async list(prefix: string): Promise<Listing> {
    const entries: Entry[] = []
    let revision = 0
    for await (const page of this.pages(prefix, etcdPageEntriesMax)) {
      for (const entry of page.entries) entries.push(entry)
      revision = page.revision
    }
    return { revision, entries }
  }

  async *pages(prefix: string, entriesMax: number): AsyncIterable<Listing> {
    this.#checkOpen()
    checkPrefix(prefix)
    let after: string | undefined
    let revision = 0
    for (;;) {
      this.#checkOpen()
      const request = { ...this.#keys.rangeOf(prefix, after), limit: entriesMax, revision }
      const { header, kvs, more } = await this.#call(range, request).catch((error: unknown) => {
        throw isServiceError(error) && error.code === status.OUT_OF_RANGE
          ? new CompactedError(revision, revision + 1)
          : error
      })
      // Pages after the first are read as of the first one's revision.
      if (revision === 0) revision = header?.revision ?? 0
      const entries = kvs.map((kv) => this.#entryOf(kv))
      after = entries.at(-1)?.key
      yield { revision, entries: entries.filter((entry) => !isMarker(entry) && !isNoteKey(entry.key)) }
      if (!more) return
    }
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    this.#checkOpen()
    checkTransaction(transaction)
    if (this.#calls.size >= pendingTransactionsMax) throw new StoreOverloadedError(this.#calls.size, 0)
    const { conditions, operations, note } = transaction
    const noted = note === undefined ? undefined : { key: this.#notes.newKey(this.#known), value: noteBytes(note) }
    // What could happen again, such as a creation, cannot once its note is there.
    const unwritten = noted === undefined || canHappenOnce(transaction) ? [] : [{ key: noted.key, modRevision: 0 }]
    const compared = conditions.map(({ key, modRevision }) => ({ key: this.#keys.bytesOf(key), modRevision }))
    const request = {
      compare: [...compared, ...unwritten].map((each) => ({ target: compareModRevision, ...each })),
      success: [
        ...operations.map((operation) => this.#requestOf(operation)),
        ...(noted === undefined ? [] : [{ requestPut: noted }]),
      ],
      failure: conditions.map(({ key }) => ({ requestRange: { key: this.#keys.bytesOf(key) } })),
    }
    const proof = noted === undefined ? this.#proofByValue(transaction, request) : this.#proofByNote(noted.key, request)
    const { header, succeeded, responses } = await this.#carryOut(request, proof).catch(async (error: unknown) => {
      // A full etcd takes deletions, so that there may be room again, and no note with them.
      const mayGoWithout = note !== undefined && operations.every(({ type }) => type === 'delete')
      if (!(error instanceof StoreFullError) || !mayGoWithout) throw error
      return this.#call(txn, { ...request, success: operations.map((each) => this.#requestOf(each)) }, once)
    })
    const revision = header?.revision ?? 0
    if (succeeded) return { ok: true, revision }
    const current = responses.map(({ responseRange }) => {
      const kv = responseRange?.kvs[0]
      return kv === undefined ? undefined : this.#entryOf(kv)
    })
    return { ok: false, revision, current }
  }

  /**
   * Carries out a transaction, by whichever member answers in time. Where one may have carried it out and has not said so `proof` finds out;
   * without one, or where that is not certain either, this rejects with the error that it first came to.
   */
  async #carryOut(
    request: Encodable<typeof txnRequest>,
    proof: Proof | undefined,
  ): Promise<Decoded<typeof txnResponse>> {
    if (proof === undefined) return this.#call(txn, request, once)
    const { clock } = this.#environment
    const deadlineMs = clock.monotonicMs() + etcdCallTimeoutMs
    let unanswered: StoreTimeoutError | undefined
    for (let withinMs = etcdCallTimeoutMs / 2; ; withinMs = deadlineMs - clock.monotonicMs()) {
      const how = { repeatable: false, withinMs }
      try {
        if (unanswered === undefined) return await this.#call(txn, request, how)
        const proven = await proof(how)
        if (proven === undefined) break
        return proven
      } catch (error) {
        if (error instanceof StoreTimeoutError) unanswered ??= error
        // Of one that is not available nothing was done. A full one stays full.
        else if (!(error instanceof StoreUnavailableError) || error instanceof StoreFullError) throw unanswered ?? error
        const isLate = deadlineMs - clock.monotonicMs() < 2 * etcdRetryMs
        if (isLate || this.#closing !== undefined) throw unanswered ?? error
        await sleep(clock, etcdRetryMs)
      }
    }
    throw unanswered
  }

  /** Where a transaction has been carried out its note is there, which nobody else writes, and without which nothing is written again. */
  #proofByNote(noteKey: Uint8Array, request: Encodable<typeof txnRequest>): Proof {
    return (how) => this.#writtenOrWrite({ ...request, failure: [{ requestRange: { key: noteKey } }] }, how)
  }

  /**
   * Of a transaction without a note, such as an object's that leaves no cause: that its one key holds what it writes. Objects have an identity
   * of their own, so that nobody else writes the same. What may be carried out twice is only looked for.
   */
  #proofByValue(transaction: Transaction, request: Encodable<typeof txnRequest>): Proof | undefined {
    const { conditions, operations } = transaction
    const [condition, operation] = [conditions[0], operations[0]]
    if (conditions.length !== 1 || operations.length !== 1 || operation?.type !== 'put') return undefined
    if (condition?.key !== operation.key) return undefined
    const isWritten = ({ value }: Decoded<typeof keyValue>): boolean => Buffer.compare(value, operation.value) === 0
    if (canHappenOnce(transaction)) return (how) => this.#writtenOrWrite(request, how, isWritten)
    return async (how) => {
      const { kvs } = await this.#call(range, { key: this.#keys.bytesOf(operation.key) }, { ...how, repeatable: true })
      return kvs[0] !== undefined && isWritten(kvs[0]) ? writtenAt(kvs[0]) : undefined
    }
  }

  /** Writes again what may have been written and can be only once. What is read where it cannot be tells whether it has been. */
  async #writtenOrWrite(
    request: Encodable<typeof txnRequest>,
    how: CallOptions,
    isWritten: (found: Decoded<typeof keyValue>) => boolean = () => true,
  ): Promise<Decoded<typeof txnResponse> | undefined> {
    const again = await this.#call(txn, request, how)
    if (again.succeeded) return again
    const found = again.responses[0]?.responseRange?.kvs[0]
    return found !== undefined && isWritten(found) ? writtenAt(found) : undefined
  }

  async notes(query: NotesQuery): Promise<readonly Note[]> {
    this.#checkOpen()
    checkNotesQuery(query)
    return this.#notes.newest(query)
  }

  async forgetNotes(revision: Revision): Promise<void> {
    this.#checkOpen()
    await this.#notes.forget(revision)
  }

  watch(prefix: string, options: WatchOptions): StoreWatch {
    this.#checkOpen()
    checkPrefix(prefix)
    const marker = prefix + markerName
    const operations = [{ type: 'put', key: marker, value: markerValue }] as const
    const watch = new EtcdWatch({
      connection: this.#connection,
      environment: this.#environment,
      keys: this.#keys,
      prefix,
      options,
      mark: () => this.commit({ conditions: [], operations }),
      tellsProgress: async () => tellsProgress((await this.#call(memberStatus, {})).version),
      onClosed: (closed) => this.#watches.delete(closed),
    })
    this.#watches.add(watch)
    return watch
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    const latest = await this.#latest.call()
    if (revision > latest) throw new RangeError(`revision ${revision} is yet to come; the last is ${latest}`)
    try {
      await this.#call(compaction, { revision })
    } catch (error) {
      // Somebody has compacted as far or further.
      if (!isServiceError(error) || error.code !== status.OUT_OF_RANGE) throw error
    }
  }

  /** That of the member that answers: they are about the same. */
  async sizeBytes(): Promise<number> {
    this.#checkOpen()
    const { dbSize } = await this.#call(memberStatus, {})
    return dbSize
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const watch of [...this.#watches]) watch.end(new StoreClosedError())
    await Promise.allSettled(this.#calls)
    this.#connection.close()
  }

  /** etcd's revision is in the header of every answer; this asks for next to nothing else. */
  async #readRevision(): Promise<Revision> {
    const { header } = await this.#call(range, { key: this.#keys.bytesOf(markerName), keysOnly: true })
    return header?.revision ?? 0
  }

  /** Calls etcd for an answer with its revision, in errors that are this package's where etcd's message is one of those it knows. */
  async #call<Request extends Message, Response extends Message>(
    method: Method<Request, Response>,
    value: Encodable<Request>,
    options: CallOptions = { repeatable: true },
  ): Promise<Decoded<Response>> {
    const known = this.#known
    const call = this.#connection.call(method, value, options)
    this.#calls.add(call)
    try {
      const answer = await call
      const { header } = answer as Decoded<typeof txnResponse>
      const revision = header?.revision ?? known
      if (revision < known && isLinearizable(method)) throw this.#reverted(revision, known)
      this.#known = Math.max(this.#known, revision)
      return answer
    } catch (error) {
      throw isServiceError(error) ? this.#errorOf(error) : error
    } finally {
      this.#calls.delete(call)
    }
  }

  /** Ends the store: what was read from it, and all that is watched, is of revisions that it does not have any more. */
  #reverted(revision: Revision, known: Revision): Error {
    this.#failure ??= new StoreRevertedError(this.#connection.place, revision, known)
    for (const watch of [...this.#watches]) watch.end(this.#failure)
    return this.#failure
  }

  #errorOf(error: Error & { readonly code: number; readonly details: string }): Error {
    const { code, details } = error
    const refusal = `etcd takes no such transaction: ${details}`
    if (code === status.OUT_OF_RANGE) return error
    if (full.test(details)) return new StoreFullError(this.#connection.place)
    if (tooLarge.test(details)) return new TransactionTooLargeError(refusal)
    if (code === status.INVALID_ARGUMENT) return new InvalidTransactionError(refusal)
    return new StoreUnavailableError(this.#connection.place, details)
  }

  #requestOf(operation: Operation): Encodable<typeof requestOp> {
    const key = this.#keys.bytesOf(operation.key)
    return operation.type === 'put' ? { requestPut: { key, value: operation.value } } : { requestDeleteRange: { key } }
  }

  #entryOf({ key, value, modRevision, createRevision }: Decoded<typeof keyValue>): Entry {
    return { key: this.#keys.keyOf(key), value, modRevision, createRevision }
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreClosedError()
    if (this.#failure !== undefined) throw this.#failure
  }
}
