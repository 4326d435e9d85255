import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { leases, parseTime } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startCluster } from '../src/index.ts'

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'coracle-idle-'))
})

afterEach(() => rm(dataDir, { recursive: true, force: true }))

/** What a day adds is history, of which there is a limited number of revisions: here two pieces of journal. */
const historyBytesMax = 512 * 1024

/** What the files below a directory hold, in bytes. */
async function sizeOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

it('a day of idle nodes leaves the data directory the size it was', async () => {
  const environment = virtualEnvironment({ seed: 1 })
  const { clock } = environment
  await using cluster = await startCluster({ environment, nodes: 20, dataDir })
  await clock.advance('1h')
  const sizeBefore = await sizeOf(dataDir)
  await clock.advance('24h')
  const { items } = await cluster.client.list(leases, { namespace: 'kube-node-lease' })
  expect(items).toHaveLength(20)
  for (const { spec } of items) expect(clock.now() - parseTime(spec?.renewTime ?? '')).toBeLessThanOrEqual(10_000)
  expect(await sizeOf(dataDir)).toBeLessThan(sizeBefore + historyBytesMax)
})
