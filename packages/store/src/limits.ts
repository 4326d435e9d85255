/** Longest key in UTF-8 bytes. It is what an LMDB page of 4 KiB has room for; both stores hold to it so that they agree. */
export const keyBytesMax = 1978

/** Longest value in bytes: well above the 3 MiB a request body may have. */
export const valueBytesMax = 8 * 1024 * 1024

/** Most operations, and most conditions, of one transaction. */
export const operationsMax = 1024

/** How many revisions of history a store keeps unless told otherwise. Older ones are compacted as new ones come. */
export const historyDefaultMax = 10_000

/** Longest note of a transaction in bytes. */
export const noteBytesMax = 16 * 1024

/** How many notes a store on disk or in etcd keeps unless told otherwise. */
export const notesDefaultMax = 100_000

/** How many notes a store in memory keeps unless told otherwise. */
export const notesInMemoryDefaultMax = 10_000

/** Most notes given at once. */
export const notesPageMax = 1000

/** Bytes of notes that are compressed together: what recurs in them costs its length once. */
export const noteChunkBytes = 32 * 1024

/** Most chunks of notes that one disk transaction of the tables lets go of. */
export const noteChunksDroppedMax = 16

/** Most transactions that share one disk transaction, and so one wait for the disk. */
export const batchTransactionsMax = 1024

/** Bytes after which a batch takes no further transaction. One transaction always fits. */
export const batchBytesMax = 16 * 1024 * 1024

/** Most transactions that may wait for the disk. Beyond it `commit` rejects with a `StoreOverloadedError`. */
export const pendingTransactionsMax = 16_384

/** Most bytes of keys and values that may wait for the disk. Beyond it `commit` rejects with a `StoreOverloadedError`. */
export const pendingBytesMax = 256 * 1024 * 1024

/** Bytes after which a journal file is full. Two such files are kept, each longer by what its last batch takes. */
export const journalSegmentBytes = 8 * 1024 * 1024

/** A journal file grows by at least this much at a time. */
export const journalGrowthBytes = 256 * 1024

/** How long a batch stays in the journal alone before it is written to the tables. */
export const writeBehindDelayMs = 100

/** Bytes of batches in the journal alone after which they are written to the tables without waiting longer. */
export const writeBehindBytesMax = 2 * 1024 * 1024

/** Bytes of batches in the tables that stay known, so that what is changed again soon need not be read. */
export const writtenKeptBytesMax = 2 * 1024 * 1024

/** Most keys of which an LMDB store knows that they are there without a look: 4 MiB of hashes. */
export const knownKeysMax = 512 * 1024

/** Bytes of one block of memory for encoded batches. A larger batch has memory of its own. */
export const batchMemoryBlockBytes = 512 * 1024

/** Most such blocks: together they hold what waits to be written to the tables, unless the disk is slow. */
export const batchMemoryBlocksMax = 8

/** Bytes of a chunk of the log beyond which its memory is not used for the next one. */
export const chunkMemoryMax = 1024 * 1024

/** Changes of one disk transaction of the tables, if no single batch has more: preparing it holds up everything else. */
export const writeBehindChangesMax = 512

/** Bytes that LMDB must have read or written since it was opened for it to be worth opening it again, to give memory back. */
export const reopenBytesMin = 4 * 1024 * 1024

/** Bytes that must be free on the disk for a store to be opened: LMDB's locks and first pages, and a piece of journal. */
export const roomMinBytes = 1024 * 1024

/** How far revisions jump when a store goes on without what was damaged, so that none is given twice. */
export const repairedRevisionsSkipped = 1_000_000

/**
 * How far the revisions of a store that is filled from a snapshot begin after those in the snapshot, so that nobody has seen one of them: what
 * was written since the snapshot was taken is less. The number that etcd's guide names for `--bump-revision`.
 */
export const restoredRevisionsSkipped = 1_000_000_000

/** How long a call to etcd may take, with all its attempts. */
export const etcdCallTimeoutMs = 5000

/** How long one of several etcd servers has to let itself be reached before the next is tried. */
export const etcdConnectTimeoutMs = 1000

/** Wait between attempts at a call, and at a watch that was cut off. */
export const etcdRetryMs = 200

/** How long a revision may stay without news before a watch asks for them: events mostly are on their way. */
export const etcdProgressDelayMs = 20

/** Largest message taken from etcd: a page of a list, whose entries have at most what etcd takes as a request, 1.5 MiB by default. */
export const etcdMessageBytesMax = 1024 ** 3

/** Entries per page where a whole list is read from etcd. */
export const etcdPageEntriesMax = 1000

/**
 * How many others may have written to etcd between the last answer a server had from it and a note it writes, for listings of
 * notes to be in order. Looking for the note of one revision does not depend on it.
 */
export const etcdNoteLagMax = 256
