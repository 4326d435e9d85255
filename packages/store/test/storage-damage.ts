import { realClock, realRandom, silentLogger } from '@coracle/environment'
import {
  openLmdbStore,
  type SoleWriterStore,
  StoreDamagedError,
  type StoreEvent,
  UnknownFormatError,
} from '../src/index.ts'
import { text } from './contract.ts'

/** What must be found in a store: everything that was acknowledged, as it was last. */
export interface Expectation {
  readonly revision: number
  readonly entries: ReadonlyMap<string, { readonly value: string; readonly modRevision: number }>
  /** The history, by revision and key; what a watch delivers must be in it. */
  readonly history: ReadonlyMap<string, StoreEvent>
}

const environment = { clock: realClock, random: realRandom, logger: silentLogger }

/** How a damaged store was found. Every verdict but `lost` and `wrong` is as it should be. */
export interface Verdict {
  readonly outcome: 'whole' | 'refused at start' | 'refused when read' | 'lost' | 'wrong'
  readonly detail: string
}

/**
 * Opens a store and compares it with what was acknowledged. Damage that is found by name is as it should be; an unknown error is thrown. It may end the process: run it in one of its own.
 */
export async function judgeStore(directory: string, identityFile: string, expected: Expectation): Promise<Verdict> {
  let opened = false
  try {
    const store = await openLmdbStore({ directory, identityFile, environment })
    opened = true
    try {
      const { entries } = await store.list('')
      for (const { key, value, modRevision } of entries) {
        const entry = expected.entries.get(key)
        if (entry?.value !== text(value) || entry?.modRevision !== modRevision) return wrong(`${key} at ${modRevision}`)
      }
      if (entries.length < expected.entries.size) return lost(`${expected.entries.size - entries.length} entries`)
      if (store.latest() < expected.revision) return lost(`revisions ${store.latest() + 1} to ${expected.revision}`)
      for (const key of expected.entries.keys()) {
        if ((await store.get(key)) === undefined) return lost(key)
      }
      for (const event of await historyOf(store)) {
        const known = expected.history.get(`${event.revision} ${event.key}`)
        if (known === undefined || text(known.value) !== text(event.value)) return wrong(`event ${event.revision}`)
      }
      await store.commit({ conditions: [], operations: [{ type: 'put', key: 'after', value: Buffer.from('after') }] })
      await store.list('')
      return { outcome: 'whole', detail: '' }
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof StoreDamagedError || error instanceof UnknownFormatError)) throw error
    return { outcome: opened ? 'refused when read' : 'refused at start', detail: error.message }
  }
}

const wrong = (detail: string): Verdict => ({ outcome: 'wrong', detail })
const lost = (detail: string): Verdict => ({ outcome: 'lost', detail })

/** Everything that a watch can still be told of, after a revision. */
function historyOf(store: SoleWriterStore, after = 0): Promise<readonly StoreEvent[]> {
  const history: StoreEvent[] = []
  const last = store.latest()
  if (after === last) return Promise.resolve(history)
  return new Promise((resolve, reject) => {
    const watch = store.watch('', {
      after,
      onEvents(events) {
        history.push(...events)
        if (events.at(-1)?.revision !== last) return
        watch.close()
        resolve(history)
      },
      onGap: ({ compacted }) => resolve(historyOf(store, compacted)),
      onEnd: reject,
    })
  })
}
