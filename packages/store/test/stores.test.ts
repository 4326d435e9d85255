import { createMemoryStore, openLmdbStore } from '../src/index.ts'
import { describeStore } from './contract.ts'
import { temporaryDirectory } from './temporary-directory.ts'

describeStore('memory store', {
  open: async (options) => createMemoryStore(options),
  cleanUp: async () => {},
})

let directory: ReturnType<typeof temporaryDirectory> | undefined

describeStore('LMDB store', {
  open(options) {
    directory = temporaryDirectory()
    return openLmdbStore({ ...options, directory: directory.path })
  },
  cleanUp: async () => directory?.remove(),
})
