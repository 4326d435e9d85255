import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { notesPageMax, openLmdbStore, type Store } from '../src/index.ts'
import { compactedRevision, record, text } from './contract.ts'
import { environmentEndingAt, reopeningMoments } from './end-at-reopening.ts'
import { withKeptCode } from './kept-code.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const isWindows = process.platform === 'win32'
const needsUlimit = { meta: { needs: 'a limit on the size of files' } }

const writer = fileURLToPath(new URL('./writer.ts', import.meta.url))

interface Acknowledged {
  readonly revision: number
  readonly key: string
  readonly value: string
}

/** The lines a writer has printed so far. A line cut off by the kill was not printed. */
function listen(child: ChildProcess): { readonly lines: () => Acknowledged[]; readonly errors: () => string } {
  let output = ''
  let errors = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk
  })
  const parse = (line: string): Acknowledged => {
    const [revision = '', key = '', value = ''] = line.split(' ')
    return { revision: Number(revision), key, value }
  }
  return { lines: () => output.split('\n').slice(0, -1).map(parse), errors: () => errors }
}

const labelOf = (value: Uint8Array): string => (text(value) ?? '').split(' ')[0] ?? ''

/** Everything acknowledged is in the history, the history has no gap, and what it adds up to is what the store holds. */
async function verify(store: Store, acknowledged: readonly Acknowledged[]): Promise<void> {
  const latest = await store.latest()
  const compacted = await compactedRevision(store)
  const watch = record(store, '', compacted)
  await watch.until(latest)
  const byRevision = Map.groupBy(watch.events, ({ revision }) => revision)
  const length = latest - compacted
  expect([...byRevision.keys()]).toEqual(Array.from({ length }, (_, index) => compacted + index + 1))

  const lost = acknowledged.filter(({ revision, key, value }) => {
    if (revision <= compacted) return false
    return !byRevision.get(revision)?.some((event) => event.key === key && labelOf(event.value) === value)
  })
  expect(lost).toEqual([])

  const notes = new Map<number, string | undefined>()
  for (let before = latest + 1; ; ) {
    const page = await store.notes({ before, limit: notesPageMax })
    if (page.length === 0) break
    for (const { revision, note } of page) notes.set(revision, text(note))
    before = page.at(-1)?.revision ?? 0
  }
  const unexplained = acknowledged.filter(({ revision, value }) => notes.get(revision) !== `note ${value}`)
  expect(unexplained).toEqual([])

  const last = new Map(watch.events.map((event) => [event.key, event]))
  const { entries } = await store.list('')
  const held = new Map(entries.map((entry) => [entry.key, entry]))
  for (const [key, event] of last) {
    const { modRevision, createRevision, value } = held.get(key) ?? {}
    const expected = event.type === 'delete' ? undefined : event
    const wrong = modRevision !== expected?.revision || createRevision !== expected?.createRevision
    if (wrong || text(value) !== text(expected?.value)) expect(held.get(key)).toEqual(expected)
  }
  const previous = new Map<string, number>()
  for (const { key, type, revision, previousRevision } of watch.events) {
    const before = previous.get(key)
    if (before !== undefined && before !== previousRevision) expect({ key, previousRevision }).toEqual({ key, before })
    previous.set(key, type === 'delete' ? 0 : revision)
  }
}

describe('a store whose process is killed', () => {
  let directory: ReturnType<typeof temporaryDirectory>

  beforeEach(() => {
    directory = temporaryDirectory()
  })

  afterEach(() => directory.remove())

  it('holds every write it acknowledged, and a history that fits', async () => {
    const rounds = 8
    for (let round = 0; round < rounds; round++) {
      const child = spawn(process.execPath, [writer, directory.path, `${round}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: withKeptCode(),
      })
      const output = listen(child)
      // At a different point of the disk's work each time.
      await expect.poll(() => output.lines().length, { interval: 7 }).toBeGreaterThan(32 + 16 * round)
      child.kill('SIGKILL')
      await once(child, 'close')

      const store = await openLmdbStore({ directory: directory.path })
      await verify(store, output.lines())
      await store.close()
    }
  })

  it.each(reopeningMoments)('holds all of that when it gives memory back, too: %s', async (moment) => {
    for (let round = 0; round < 2; round++) {
      const child = spawn(process.execPath, [writer, directory.path, `${round}`, '32', 'rests'], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...withKeptCode(), ...environmentEndingAt(moment) },
      })
      const output = listen(child)
      await once(child, 'close')
      expect(child.signalCode).toBe('SIGKILL')
      expect(output.lines().length).toBeGreaterThan(0)

      const store = await openLmdbStore({ directory: directory.path })
      await verify(store, output.lines())
      await store.close()
    }
  })

  it.skipIf(isWindows)('fails for good, and loudly, when the disk takes no more', needsUlimit, async () => {
    const limitKiB = 2048
    const command = `ulimit -f ${limitKiB} && exec "$0" "$@"`
    const child = spawn('bash', ['-c', command, process.execPath, writer, directory.path, '0'], { stdio: 'pipe' })
    const output = listen(child)
    await once(child, 'close')
    const failure = `StoreFailedError: the store in ${directory.path} has failed and takes no further calls: `
    const [reason, later] = output
      .errors()
      .split('\n')
      .filter((line) => line.startsWith('StoreFailedError'))
    expect(reason).toMatch(failure)
    // The journal says it in one way, LMDB in the others: for a write cut short by the limit, and for one beyond it.
    expect(reason).toMatch(/(EFBIG: file too large, write|Input\/output error|File too large)$/)
    expect(later).toBe(reason)

    const store = await openLmdbStore({ directory: directory.path })
    const acknowledged = output.lines()
    expect(acknowledged.length).toBeGreaterThan(0)
    await verify(store, acknowledged)
    await store.close()
  })
})
