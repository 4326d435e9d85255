// Commits as fast as it can until it is killed or the disk refuses. Prints a line for each commit that was acknowledged,
// synchronously: what a line says was promised before the next instruction. With `rests` it gives memory back all the while.
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { realClock } from '@coracle/environment'
import { openLmdbStore } from '../src/index.ts'

const [directory = '', round = '0', writers = '32', rests] = process.argv.slice(2)
const store = await openLmdbStore({ directory })
flushCompileCache()

const someWritten = Promise.withResolvers<void>()

async function write(writer: number): Promise<void> {
  for (let count = 0; ; count++) {
    const label = `${round}-${writer}-${count}`
    const value = `${label} `.padEnd(100 + ((writer * 371) % 3000), '.')
    const shared = `shared/${writer % 4}`
    const own = `own/${round}/${writer}/${count % 50}`
    const result = await store.commit({
      conditions: [],
      note: Buffer.from(`note ${label}`),
      operations: [
        { type: 'put', key: own, value: Buffer.from(value) },
        count % 5 === 4 ? { type: 'delete', key: shared } : { type: 'put', key: shared, value: Buffer.from(value) },
      ],
    })
    if (count === 10) someWritten.resolve()
    if (result.ok) writeSync(1, `${result.revision} ${own} ${label}\n`)
  }
}

async function rest(): Promise<void> {
  await someWritten.promise
  for (;;) {
    await store.releaseMemory?.()
    await new Promise<void>((resolve) => realClock.defer(resolve))
  }
}

if (rests !== undefined) void rest()
const failures = await Promise.allSettled(Array.from({ length: Number(writers) }, (_, writer) => write(writer)))
const reasons = new Set(failures.map((failure) => (failure.status === 'rejected' ? String(failure.reason) : '')))
const after = await store.get('own/0/0/0').catch((error: unknown) => String(error))
await store.close()
writeSync(2, `${[...reasons].join('\n')}\n${after}\n`)
