import { describe, expect, it } from 'vitest'
import { StoreOverloadedError } from './errors.ts'
import { type Batch, GroupCommit, type GroupCommitOptions } from './group-commit.ts'
import type { StoreEvent } from './store.ts'

const event = (revision: number, size = 0): StoreEvent => ({
  type: 'put',
  key: 'k',
  value: new Uint8Array(size),
  revision,
  createRevision: 1,
  previousRevision: 0,
})

/** A disk that finishes a batch when the test says so. */
function harness(limits: Partial<GroupCommitOptions> = {}) {
  const log: string[] = []
  const writing: { batch: Batch; done: () => void; fail: (error: Error) => void }[] = []
  const turns: (() => void)[] = []
  let nowMs = 0
  let timers: { readonly atMs: number; readonly callback: () => void }[] = []
  const commits = new GroupCommit({
    write: (batch) =>
      new Promise((done, fail) => {
        log.push(`write ${batch.events.map(({ revision }) => revision).join(' ')}`)
        writing.push({ batch, done, fail })
      }),
    onDurable: (batch) => log.push(`durable ${batch.last}`),
    onFailed: (cause) => new Error('failed for good', { cause }),
    clock: {
      defer: (callback) => turns.push(callback),
      monotonicMs: () => nowMs,
      setTimer(delayMs, callback) {
        const timer = { atMs: nowMs + delayMs, callback }
        timers.push(timer)
        const cancel = () => {
          timers = timers.filter((each) => each !== timer)
        }
        return { cancel }
      },
    },
    ...limits,
  })
  const add = (revision: number, size = 0) =>
    commits.add(revision, [event(revision, size)]).then(
      () => void log.push(`acknowledged ${revision}`),
      (error: Error) => void log.push(`rejected ${revision}: ${error.message}`),
    )
  const settle = async () => {
    for (let hop = 0; hop < 20; hop++) await Promise.resolve()
  }
  const turn = async () => {
    turns.shift()?.()
    await settle()
  }
  const finish = async () => {
    writing.shift()?.done()
    await settle()
  }
  const fail = async (message: string) => {
    writing.shift()?.fail(new Error(message))
    await settle()
  }
  const pass = async (ms: number) => {
    nowMs += ms
    const due = timers.filter(({ atMs }) => atMs <= nowMs)
    timers = timers.filter(({ atMs }) => atMs > nowMs)
    for (const { callback } of due) callback()
    await turn()
  }
  return {
    commits,
    add,
    turn,
    pass,
    timers: () => timers.length,
    finish,
    fail,
    settle,
    log: () => log.splice(0),
    writing,
  }
}

describe('group commit', () => {
  it('writes what one turn brought together, and acknowledges only after the disk has it', async () => {
    const { add, turn, finish, log } = harness()
    for (const revision of [1, 2, 3]) void add(revision)
    expect(log()).toEqual([])
    await turn()
    expect(log()).toEqual(['write 1 2 3'])
    await finish()
    expect(log()).toEqual(['durable 3', 'acknowledged 1', 'acknowledged 2', 'acknowledged 3'])
  })

  it('gathers what comes while the disk is busy into the next batch', async () => {
    const { add, turn, finish, log } = harness()
    void add(1)
    await turn()
    for (const revision of [2, 3]) void add(revision)
    await turn()
    expect(log()).toEqual(['write 1'])
    await finish()
    await turn()
    expect(log()).toEqual(['durable 1', 'acknowledged 1', 'write 2 3'])
  })

  it('splits what is too much for one batch, by count and by bytes', async () => {
    const { add, turn, finish, log } = harness({ batchTransactionsMax: 2, batchBytesMax: 1000 })
    for (const [revision, size] of [
      [1, 0],
      [2, 0],
      [3, 600],
      [4, 600],
      [5, 5000],
    ] as const)
      void add(revision, size)
    for (let batch = 0; batch < 4; batch++) {
      await turn()
      await finish()
    }
    expect(log().filter((line) => line.startsWith('write'))).toEqual(['write 1 2', 'write 3', 'write 4', 'write 5'])
  })

  it('rejects everything that waits when the disk fails, and whatever comes later', async () => {
    const { add, turn, fail, settle, log } = harness()
    void add(1)
    await turn()
    void add(2)
    await fail('no space')
    await turn()
    void add(3)
    await settle()
    const rejected = [1, 2, 3].map((revision) => `rejected ${revision}: failed for good`)
    expect(log()).toEqual(['write 1', ...rejected])
  })

  it('has nothing that waits once the disk has failed', async () => {
    const { commits, add, turn, fail } = harness({ pendingTransactionsMax: 1, pendingBytesMax: 100 })
    void add(1, 100)
    await turn()
    await fail('no space')
    await commits.settled()
    commits.checkRoom()
  })

  it('has room for so many transactions and so many bytes', async () => {
    const { commits, add, turn, finish } = harness({ pendingTransactionsMax: 3, pendingBytesMax: 1129 })
    void add(1)
    void add(2)
    commits.checkRoom()
    void add(3)
    expect(() => commits.checkRoom()).toThrow(StoreOverloadedError)
    await turn()
    expect(() => commits.checkRoom()).toThrow(/^too much waits for the disk \(3 transactions, \d+ bytes\); try again/)
    await finish()
    commits.checkRoom()
    void add(4, 1000)
    expect(() => commits.checkRoom()).toThrow('(1 transactions, 1129 bytes)')
  })

  it('counts the bytes of keys, values and notes, and some for each change', async () => {
    const { commits } = harness({ pendingBytesMax: 10_000 })
    void commits.add(1, [
      { ...event(1, 100), key: 'long', note: new Uint8Array(50) },
      { ...event(1), key: 'k2' },
    ])
    commits.checkRoom()
    void commits.add(2, [event(2, 10_000)])
    const bytes = 128 + 4 + 100 + 50 + (128 + 2) + (128 + 1 + 10_000)
    expect(() => commits.checkRoom()).toThrow(`(2 transactions, ${bytes} bytes)`)
  })

  it('settles after what came before, without writing anything itself', async () => {
    const { commits, add, turn, finish, settle, log } = harness()
    const order: string[] = []
    await commits.settled()
    void add(1)
    await turn()
    void commits.settled().then(() => order.push('settled'))
    await settle()
    expect(order).toEqual([])
    await finish()
    await turn()
    expect(order).toEqual(['settled'])
    expect(log()).toEqual(['write 1', 'durable 1', 'acknowledged 1', 'durable 0'])
  })

  it('forgets history in the order of the calls, up to the furthest that was asked for', async () => {
    const { commits, add, turn, finish, writing, log } = harness()
    const order: string[] = []
    void commits.compact(7).then(() => order.push('compacted'))
    void commits.compact(5)
    await turn()
    expect(writing[0]?.batch).toEqual({ last: 0, events: [], compact: 7 })
    void add(9)
    await finish()
    expect(order).toEqual(['compacted'])
    await turn()
    expect(writing[0]?.batch).toMatchObject({ last: 9, compact: 0 })
    await finish()
    expect(log().at(-1)).toBe('acknowledged 9')
  })

  it('fills a batch to its bounds, and takes one transaction that is larger', async () => {
    const { add, turn, finish, writing } = harness({ batchBytesMax: 300 })
    // Each has 128 bytes of its own, its key and its value.
    for (const [revision, size] of [
      [1, 21],
      [2, 21],
      [3, 21],
      [4, 22],
      [5, 400],
    ] as const)
      void add(revision, size)
    const sizes: number[] = []
    for (let count = 0; count < 4; count++) {
      await turn()
      sizes.push(writing[0]?.batch.events.length ?? 0)
      await finish()
    }
    expect(sizes).toEqual([2, 1, 1, 1])
  })
})

describe('group commit that waits for writers who come back', () => {
  /** Two writers were acknowledged just now, and a third came meanwhile. */
  async function twoHalves(limits: Partial<GroupCommitOptions> = {}) {
    const made = harness({ gatherMs: 1, ...limits })
    const { add, turn, finish, log } = made
    for (const revision of [1, 2]) void add(revision)
    await turn()
    void add(3)
    await finish()
    log()
    return made
  }

  it('has one batch for all of them instead of two by turns', async () => {
    const { add, turn, finish, log } = await twoHalves()
    void add(4)
    await turn()
    expect(log()).toEqual([])
    void add(5)
    await turn()
    expect(log()).toEqual(['write 3 4 5'])
    await finish()
    for (const revision of [6, 7, 8]) void add(revision)
    await turn()
    expect(log().at(-1)).toBe('write 6 7 8')
  })

  it('waits no longer than it may, and not again for those who did not come', async () => {
    const { add, turn, pass, timers, finish, log } = await twoHalves()
    await pass(0.5)
    void add(4)
    await turn()
    expect(log()).toEqual([])
    await pass(0.5)
    expect(log()).toEqual(['write 3 4'])
    expect(timers()).toBe(0)
    await finish()
    for (const revision of [5, 6]) void add(revision)
    await turn()
    expect(log().at(-1)).toBe('write 5 6')
  })

  it('waits for nobody when the time is over before anybody comes', async () => {
    const { add, turn, pass, finish, log } = await twoHalves()
    await pass(1)
    await finish()
    await pass(1)
    void add(4)
    await turn()
    expect(log().at(-1)).toBe('write 4')
  })

  it('does not let a single writer wait', async () => {
    const { add, turn, timers, finish, log } = harness({ gatherMs: 1 })
    for (const revision of [1, 2, 3]) {
      void add(revision)
      expect(timers()).toBe(0)
      await turn()
      expect(log()).toContain(`write ${revision}`)
      await finish()
    }
  })

  it('waits for no more than a batch holds', async () => {
    const { add, turn, log } = await twoHalves({ batchTransactionsMax: 2 })
    void add(4)
    await turn()
    expect(log()).toEqual(['write 3 4'])
  })

  it('lets nothing wait unless it is told to', async () => {
    const { turn, timers, log } = await twoHalves({ gatherMs: undefined })
    expect(timers()).toBe(0)
    await turn()
    expect(log()).toEqual(['write 3'])
  })

  it('says that all is settled once what waited is durable', async () => {
    const { commits, pass, finish, settle } = await twoHalves()
    let settled = false
    void commits.settled().then(() => {
      settled = true
    })
    await settle()
    expect(settled).toBe(false)
    await pass(1)
    await finish()
    expect(settled).toBe(true)
  })
})
