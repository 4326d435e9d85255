/** What is where in a data directory. */
export const dataDirectoryNames = {
  store: 'store',
  /** A file that is there once the directory has had a store, and names that one. */
  marker: 'store.made',
  /** The store from before, while it is replaced. */
  formerStore: 'store.former',
} as const
