import { appendFile, readFile, rename } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FakeEngine, frame } from '../../testing/fake-engine.ts'
import { Engine } from './engine.ts'
import { nanosOf } from './log-file.ts'
import { LogFollower } from './log-follower.ts'

const at = (second: number, nanos = 0) => `2026-01-01T00:00:0${second}.${String(nanos).padStart(9, '0')}Z`

/** An engine with one container that has written some entries, and a file that its log goes to. */
async function container() {
  const entries: (readonly [time: string, text: string])[] = []
  const state = { isRunning: true }
  const open = new Set<ServerResponse>()
  const engine = await FakeEngine.start({
    'GET /containers/*/json': () => ({ State: { Running: state.isRunning }, Config: { Tty: false } }),
    'GET /containers/*/logs': ({ query }, response) => {
      // As engines do: entries of that time, and later.
      const since = BigInt(query.get('since')?.replace('.', '') ?? 0)
      for (const [time, text] of entries) {
        if (nanosOf(time) >= since) response.write(frame('stdout', `${time} ${text}\n`))
      }
      response.flushHeaders()
      if (query.get('follow') === 'true' && state.isRunning) open.add(response)
      else response.end()
      return undefined
    },
  })
  const path = join(engine.directory, 'logs', 'main', '0.log')
  return {
    engine,
    path,
    follow: () => {
      const follower = new LogFollower(
        new Engine(engine.endpoint, realEnvironment().clock),
        realEnvironment(),
        'c1',
        path,
      )
      onTestFinished(() => follower.close())
      return follower
    },
    write: (time: string, text: string) => {
      entries.push([time, text])
      for (const response of open) response.write(frame('stdout', `${time} ${text}\n`))
    },
    /** Writes what nobody who follows is told. */
    writeUnseen: (time: string, text: string) => entries.push([time, text]),
    end: () => {
      state.isRunning = false
      for (const response of open) response.end()
      open.clear()
    },
    lines: async () => (await readFile(path, 'utf8').catch(() => '')).split('\n').slice(0, -1),
    follows: () => open.size,
  }
}

describe('following the log of a container', () => {
  it('writes what it says as it does, and the end of it', async () => {
    const { follow, write, writeUnseen, end, lines } = await container()
    write(at(1), 'one')
    const follower = follow()
    await expect.poll(lines).toEqual([`${at(1)} stdout F one`])
    write(at(2), 'two')
    await expect.poll(lines).toHaveLength(2)
    writeUnseen(at(3), 'last')
    end()
    await follower.done
    expect(await lines()).toEqual([1, 2, 3].map((n) => `${at(n)} stdout F ${['one', 'two', 'last'][n - 1]}`))
  })

  it('goes on where an earlier life has left off, with entries of one time too', async () => {
    const { follow, write, end, lines, path } = await container()
    for (const text of ['a', 'b']) write(at(1, 5), text)
    const first = follow()
    await expect.poll(lines).toHaveLength(2)
    await first.close()
    // It was killed while it wrote.
    await appendFile(path, `${at(1, 5)} stdout F `)
    for (const text of ['c', 'd']) write(at(1, 5), text)
    write(at(1, 6), 'e')
    const second = follow()
    await expect.poll(lines).toHaveLength(5)
    end()
    await second.done
    expect((await lines()).map((line) => line.slice(-1)).join('')).toBe('abcde')
  })

  it('goes on when the engine is back', async () => {
    const { follow, write, writeUnseen, end, lines, engine, follows } = await container()
    write(at(1), 'before')
    const follower = follow()
    await expect.poll(lines).toHaveLength(1)
    await engine.stop()
    writeUnseen(at(2), 'meanwhile')
    await engine.start()
    await expect.poll(lines).toHaveLength(2)
    await expect.poll(follows).toBeGreaterThan(0)
    end()
    await follower.done
    expect(await lines()).toHaveLength(2)
  })

  it('begins another file where it was put aside, and goes on from there after a restart', async () => {
    const { follow, write, lines, path } = await container()
    write(at(1), 'old')
    const first = follow()
    await expect.poll(lines).toHaveLength(1)
    await rename(path, `${path}.20260101-000001`)
    await first.reopen()
    expect(await lines()).toEqual([])
    await first.close()
    write(at(2), 'new')
    follow()
    await expect.poll(lines).toEqual([`${at(2)} stdout F new`])
  })

  it('ends where the container is gone', async () => {
    const engine = await FakeEngine.start()
    const path = join(engine.directory, '0.log')
    await new LogFollower(new Engine(engine.endpoint, realEnvironment().clock), realEnvironment(), 'c1', path).done
  })
})
