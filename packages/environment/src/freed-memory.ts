/**
 * Has the C library give back memory that was freed. glibc keeps nearly all of it: only the end of its heap ever goes back, and
 * what a burst of work has left there is full of holes. Takes a few milliseconds. Does nothing where it cannot be done: outside
 * of Linux, and with other C libraries than glibc.
 *
 * Node.js has no call for `malloc_trim`. Its SQLite does: it loads extensions, which are libraries of which it calls a
 * function, and it may be told which. This one takes a number, how much to leave at the end of the heap, and is given the address
 * of a database: so the end stays as it is, which glibc gives back by itself, and all holes go. It returns 1 where it has given
 * something back, which SQLite takes for a failure, and 0 where not.
 */
export function returnFreedMemory(): void {
  if (process.platform !== 'linux') return
  // A cluster has loaded it to lock its directory.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const database = new DatabaseSync(':memory:', { allowExtension: true })
  try {
    // The type declarations do not know of the second parameter yet.
    const loadExtension: (this: unknown, library: string, entryPoint: string) => void = database.loadExtension
    loadExtension.call(database, 'libc.so.6', 'malloc_trim')
  } catch {
    // It has been called, or is not there.
  } finally {
    database.close()
  }
}
