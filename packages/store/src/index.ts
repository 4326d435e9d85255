/** A revisioned key–value store with watch, in LMDB or in etcd; `@coracle/store/memory` has one in memory. */
export { dataDirectoryNames } from './data-directory-names.ts'
export { fileIdentity, makePrivateDirectory, syncDirectory } from './directories.ts'
export { type DirectoryLock, type DirectoryOwner, directoryOwner, lockDirectory } from './directory-lock.ts'
export {
  DirectoryInUseError,
  DirectoryLockError,
  InvalidTransactionError,
  StoreClosedError,
  StoreDamagedError,
  StoreFailedError,
  StoreOverloadedError,
  StoreRevertedError,
  StoreTimeoutError,
  StoreUnavailableError,
  TransactionTooLargeError,
  UnknownFormatError,
} from './errors.ts'
export { type EtcdStoreOptions, type EtcdTls, openEtcdStore } from './etcd-store.ts'
export { compareKeys } from './key-order.ts'
export {
  historyDefaultMax,
  keyBytesMax,
  noteBytesMax,
  notesDefaultMax,
  notesPageMax,
  operationsMax,
  restoredRevisionsSkipped,
  valueBytesMax,
} from './limits.ts'
export { holdsLmdbStore, type LmdbStoreOptions, openLmdbStore } from './lmdb-store.ts'
export { processStart } from './process-start.ts'
export { examineStore, repairStore, type StoreReport } from './repair.ts'
export { type ReplacingFiles, replaceStore, settleStore } from './replace-store.ts'
export {
  type CommitResult,
  CompactedError,
  type Condition,
  type Entry,
  type LazyNote,
  type Listing,
  type Note,
  type NotesQuery,
  type Operation,
  type Put,
  type Revision,
  type SoleWriterStore,
  type Store,
  type StoreEvent,
  type StoreWatch,
  type Transaction,
  type WatchOptions,
} from './store.ts'
