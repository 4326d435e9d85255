import { openLmdbStore } from '../src/index.ts'
import { createMemoryStore } from '../src/memory-store.ts'
import { describeSoleWriterStore, describeStore, type SoleWriterStoreFactory } from './contract.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const memory: SoleWriterStoreFactory = {
  open: async (options) => createMemoryStore(options),
  cleanUp: async () => {},
}

let directory: ReturnType<typeof temporaryDirectory> | undefined

const lmdb: SoleWriterStoreFactory = {
  open(options) {
    directory = temporaryDirectory()
    return openLmdbStore({ ...options, directory: directory.path })
  },
  cleanUp: async () => directory?.remove(),
}

for (const [name, factory] of Object.entries({ 'memory store': memory, 'LMDB store': lmdb })) {
  describeStore(name, factory)
  describeSoleWriterStore(name, factory)
}
