import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCluster } from '@coracle/cluster'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ClusterPlace, placeToStart } from '../local/cluster-place.ts'
import { type ServerRecord, writeServerRecord } from '../local/server-record.ts'
import { recordingHost } from '../testing/recording-host.ts'
import { choosePort } from './choose-port.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ports-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const listen = '127.0.0.1'
const host = () => recordingHost({ workingDirectory: directory })

/** The place of a cluster with a name, which had this port the last time. */
async function placeWithPort(port: number): Promise<ClusterPlace> {
  const place = placeToStart(host(), { name: 'staging' })
  mkdirSync(place.directory, { recursive: true })
  await writeServerRecord(place.directory, { url: `https://127.0.0.1:${port}`, ...record })
  return place
}

const record: Omit<ServerRecord, 'url'> = {
  version: '0.1.0',
  pid: 1,
  startedAt: '2026-11-22T07:00:00Z',
  store: 'disk',
  runtime: 'process',
  isDetached: false,
}

async function occupied() {
  const server = createServer((socket) => socket.destroy()).listen(0, listen)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const free = async () => {
    server.close()
    await once(server, 'close')
  }
  return { port, free }
}

describe('the port of a cluster', () => {
  it('is the one that is asked for, whoever has it', async () => {
    const { port, free } = await occupied()
    expect(await choosePort(host(), await placeWithPort(1), { listen, port })).toEqual({ port })
    await free()
  })

  it('is the one that a cluster with a name had before, where that is free', async () => {
    const { port, free } = await occupied()
    await free()
    expect(await choosePort(host(), await placeWithPort(port), { listen })).toEqual({ port })
  })

  it("is any free one where that is another Coracle's", async () => {
    await using cluster = await startCluster({ nodes: 0 })
    const port = Number(new URL(cluster.url ?? '').port)
    expect(await choosePort(host(), await placeWithPort(port), { listen })).toEqual({
      port: 0,
      note: `port ${port} is another Coracle's: this one has a port of its own choice`,
    })
  })

  it("stays the same where it is somebody else's: the start says so", async () => {
    const { port, free } = await occupied()
    expect(await choosePort(host(), await placeWithPort(port), { listen })).toEqual({ port })
    await free()
  })
})
