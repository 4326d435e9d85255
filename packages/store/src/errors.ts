import { codeOf } from './system-errors.ts'

/** The store was closed: the call came too late, or the watch ended with it. */
export class StoreClosedError extends Error {
  override readonly name = 'StoreClosedError'
  constructor() {
    super('the store is closed')
  }
}

/**
 * The disk refused a transaction. What it holds of that transaction is unknown, so the store takes no further call:
 * stop the process, look after the disk and open the directory again. `cause` is the disk's own error.
 */
export class StoreFailedError extends Error {
  override readonly name = 'StoreFailedError'
  constructor(place: string, cause: unknown) {
    const reason = isDiskFull(cause) ? 'the disk is full; make room and start again: ' : ''
    super(`the store in ${place} has failed and takes no further calls: ${reason}${messageOf(cause)}`, { cause })
  }
}

/** More transactions wait for the disk than the store queues. The transaction was not taken; it may be tried again. */
export class StoreOverloadedError extends Error {
  override readonly name = 'StoreOverloadedError'
  constructor(pendingTransactions: number, pendingBytes: number) {
    super(`too much waits for the disk (${pendingTransactions} transactions, ${pendingBytes} bytes); try again later`)
  }
}

/** The store cannot be reached, or cannot work at present. Nothing was written; it may be tried again. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
  constructor(place: string, why: string) {
    super(`the store at ${place} is not available: ${why}`)
  }
}

/** etcd takes no more: its database has grown to its quota, and it has raised an alarm that an operator has to disarm. */
export class StoreFullError extends StoreUnavailableError {
  constructor(place: string) {
    super(
      place,
      'the database of etcd is full (mvcc: database space exceeded), and it takes nothing but deletions; compact and defragment it, or give it ' +
        'a larger --quota-backend-bytes, and then disarm its alarm: etcdctl alarm disarm',
    )
  }
}

/** The store did not answer in time. A transaction may have been carried out, or still be; a read may be tried again. */
export class StoreTimeoutError extends Error {
  override readonly name = 'StoreTimeoutError'
  constructor(place: string, why: string) {
    super(`the store at ${place} has not answered in time: ${why}`)
  }
}

/**
 * The store is at an earlier revision than it was: somebody has restored it from a backup under this process, or it is another one. What this
 * process holds of it is not what it has, so the store takes no further call: stop the process and start again.
 */
export class StoreRevertedError extends Error {
  override readonly name = 'StoreRevertedError'
  constructor(place: string, revision: number, before: number) {
    super(
      `the store at ${place} is at revision ${revision}, and was at ${before}: it was restored from a backup, or is another one; start again`,
    )
  }
}

/** The directory belongs to a process that is alive. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError'
  /** Who uses it, in words: `process 42`, with its host where that is another (a container has a name of its own). */
  readonly owner: string
  constructor(directory: string, owner: { readonly pid: number; readonly host?: string | undefined } | undefined) {
    const words = owner === undefined ? 'another process' : `process ${owner.pid}`
    const text = owner?.host === undefined ? words : `${words} of host ${owner.host}`
    super(`${directory} is in use by ${text}; stop that process or choose another directory`)
    this.owner = text
  }
}

/** The directory cannot be locked: its file system has no locks, or something else is where the lock file should be. */
export class DirectoryLockError extends Error {
  override readonly name = 'DirectoryLockError'
  constructor(directory: string, lockFileName: string, cause: unknown) {
    super(
      `${directory} cannot be locked (${lockFileName}: ${messageOf(cause)}); ` +
        'choose a directory on a file system that has locks, such as a local disk',
      { cause },
    )
  }
}

/** The directory was written in a format this version does not read. */
export class UnknownFormatError extends Error {
  override readonly name = 'UnknownFormatError'
  constructor(directory: string, found: string, expected: string) {
    super(
      `${directory} holds a store of format ${found}, this version reads format ${expected}; ` +
        `use the version that wrote it, or another directory`,
    )
  }
}

/**
 * The files of the directory are not as they were left: overwritten, cut short, missing, or mixed with others. Nothing was
 * changed. `examineStore` says more, and `repairStore` goes on without what is damaged, for who decides to.
 */
export class StoreDamagedError extends Error {
  override readonly name = 'StoreDamagedError'
  /** Everything up to this revision is whole; undefined where that cannot be told, or something older is damaged. */
  readonly safeRevision: number | undefined
  /** What is wrong, as the end of a sentence; it names no place of this machine. */
  readonly what: string
  constructor(directory: string, what: string, safeRevision?: number) {
    const rest = safeRevision === undefined ? '' : `, or go on from revision ${safeRevision}, the last that is whole`
    super(`the store in ${directory} is damaged: ${what}; restore the directory as a whole from a backup${rest}`)
    this.safeRevision = safeRevision
    this.what = what
  }
}

/** A key, a value or a transaction that no store takes. Nothing was written. */
export class InvalidTransactionError extends Error {
  override readonly name = 'InvalidTransactionError'
}

/** A value or a transaction with more bytes than the store takes. Nothing was written. */
export class TransactionTooLargeError extends Error {
  override readonly name = 'TransactionTooLargeError'
}

/** Node.js says it with a code, LMDB in words. */
function isDiskFull(cause: unknown): boolean {
  return codeOf(cause) === 'ENOSPC' || /No space left/.test(messageOf(cause))
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
