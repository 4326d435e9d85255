import { X509Certificate } from 'node:crypto'
import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { type ConfigMap, configMaps, namespaces, nodes, pods } from '@coracle/api'
import { createPki } from '@coracle/apiserver'
import { connectionOf, createHttpClient, type HttpClient, parseKubeconfig } from '@coracle/client'
import { realEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Cluster, DataDirectoryLostError, startCluster } from '../src/index.ts'

const environment = realEnvironment()

const configMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { key: 'value' },
})

/** A client as anybody outside the process makes one. */
async function outside({ kubeconfig = '' }: Cluster): Promise<HttpClient> {
  return createHttpClient({
    ...(await connectionOf(await parseKubeconfig(kubeconfig, 'kubeconfig'), environment)),
    ...environment,
  })
}

describe('a cluster', () => {
  let dataDir: string

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'cluster-'))
  })

  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  it('serves the same objects in process and over HTTPS', async () => {
    await using cluster = await startCluster()
    const client = await outside(cluster)
    const created = await client.create(configMaps, configMap('seen'))
    // Who owns its fields is beside an object, and only put into what goes over the wire.
    const { managedFields, ...metadata } = created.metadata
    expect(managedFields).toHaveLength(1)
    const seen = await cluster.client.get(configMaps, { namespace: 'default', name: 'seen' })
    expect(seen).toEqual({ ...created, metadata })
    expect((await client.list(nodes)).items.map(({ metadata }) => metadata.name)).toEqual(['node-0'])
    await client.close()
  })

  it('lets in by further tokens and certificates whom it is told to', async () => {
    const other = createPki(environment)
    await using cluster = await startCluster({
      nodes: 0,
      tokens: [{ token: 'my-token', user: { name: 'anna', groups: ['system:masters'] } }],
      clientCaPem: other.ca.certificatePem,
    })
    const { server, ca = '' } = await connectionOf(
      await parseKubeconfig(cluster.kubeconfig ?? '', 'kubeconfig'),
      environment,
    )
    const { certificatePem: cert, keyPem: key } = other.admin
    for (const credentials of [{ token: 'my-token' }, { cert, key }]) {
      const client = createHttpClient({ server, ca, ...credentials, ...environment })
      expect((await client.list(namespaces)).items.length).toBeGreaterThan(0)
      await client.close()
    }
    const stranger = createHttpClient({ server, ca, token: 'another', ...environment })
    await expect(stranger.list(namespaces)).rejects.toMatchObject({ code: 401 })
    await stranger.close()
  })

  it('is believed by a client that was told to trust its own certificate', async () => {
    await using cluster = await startCluster({ nodes: 0 })
    const { url: server = '', token } = cluster
    const shown = Promise.withResolvers<string>()
    const socket = connect({ port: Number(new URL(server).port), rejectUnauthorized: false }, () =>
      shown.resolve(new X509Certificate(socket.getPeerCertificate().raw).toString()),
    )
    const ca = await shown.promise
    socket.destroy()
    const client = createHttpClient({ server, ca, token, ...environment })
    expect((await client.list(namespaces)).items.length).toBeGreaterThan(0)
    await client.close()
  })

  it('that listens on all addresses is reached by each, under its certificate', async () => {
    await using cluster = await startCluster({ nodes: 0, listen: { host: '0.0.0.0' } })
    const { port } = new URL(cluster.url ?? '')
    expect(cluster.url).toBe(`https://127.0.0.1:${port}`)
    const access = await connectionOf(await parseKubeconfig(cluster.kubeconfig ?? '', 'kubeconfig'), environment)
    const own = Object.values(networkInterfaces()).flatMap((list = []) =>
      list.filter(({ family }) => family === 'IPv4'),
    )
    for (const { address } of own) {
      const client = createHttpClient({ ...access, server: `https://${address}:${port}`, ...environment })
      expect((await client.list(namespaces)).items.length).toBeGreaterThan(0)
      await client.close()
    }
    const client = await outside(cluster)
    expect((await client.list(namespaces)).items.length).toBeGreaterThan(0)
    await client.close()
  })

  it('refuses who has no credentials of its own', async () => {
    await using cluster = await startCluster({ nodes: 0 })
    await using other = await startCluster({ nodes: 0 })
    const access = await connectionOf(await parseKubeconfig(other.kubeconfig ?? '', 'kubeconfig'), environment)
    const client = createHttpClient({
      ...access,
      server: cluster.url ?? '',
      insecureSkipTlsVerify: true,
      ...environment,
    })
    await expect(client.list(pods)).rejects.toMatchObject({ code: 401, reason: 'Unauthorized' })
    await client.close()
  })

  it('keeps its state, its certificates and its token where it has a data directory', async () => {
    let first: { readonly token: string; readonly uid: string | undefined }
    {
      await using cluster = await startCluster({ dataDir, nodes: 0 })
      const { metadata } = await cluster.client.create(configMaps, configMap('kept'))
      first = { token: cluster.token, uid: metadata.uid }
      expect(await readFile(join(dataDir, 'kubeconfig'), 'utf8')).toBe(cluster.kubeconfig)
      for (const file of ['kubeconfig', 'token']) expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600)
    }
    const ca = await readFile(join(dataDir, 'pki', 'ca.crt'), 'utf8')
    await using cluster = await startCluster({ dataDir, nodes: 0 })
    expect(cluster.token).toBe(first.token)
    expect(await readFile(join(dataDir, 'pki', 'ca.crt'), 'utf8')).toBe(ca)
    const { metadata } = await cluster.client.get(configMaps, { namespace: 'default', name: 'kept' })
    expect(metadata.uid).toBe(first.uid)
  })

  it('forgets its state with memory as its store, data directory or not', async () => {
    for (let start = 0; start < 2; start++) {
      await using cluster = await startCluster({ dataDir, store: 'memory', nodes: 0 })
      await cluster.client.create(configMaps, configMap('forgotten'))
    }
  })

  it.each([
    ['disk', 'disk'],
    ['disk', 'memory'],
    ['memory', 'disk'],
    ['memory', 'memory'],
  ] as const)(
    'is not started twice on one data directory (%s, then %s), and the first goes on',
    async (first, second) => {
      await using cluster = await startCluster({ dataDir, store: first, nodes: 0 })
      const kubeconfig = await readFile(join(dataDir, 'kubeconfig'), 'utf8')
      await expect(startCluster({ dataDir, store: second, nodes: 0 })).rejects.toThrow(
        `${dataDir} is in use by process ${process.pid}`,
      )
      expect(await readFile(join(dataDir, 'kubeconfig'), 'utf8')).toBe(kubeconfig)
      await cluster.client.create(configMaps, configMap('still'))
    },
  )

  it('does not take a directory whose store is gone for a new one', async () => {
    {
      await using _cluster = await startCluster({ dataDir, nodes: 0 })
    }
    await rm(join(dataDir, 'store'), { recursive: true })
    await expect(startCluster({ dataDir, nodes: 0 })).rejects.toThrow(
      `the store of the cluster in ${dataDir} is missing: restore ${join(dataDir, 'store')} from a backup, or remove ` +
        `${join(dataDir, 'store.made')} to go on with an empty one under the same keys, or ${dataDir} to start afresh`,
    )
    await expect(stat(join(dataDir, 'store'))).rejects.toThrow('ENOENT')
    const token = await readFile(join(dataDir, 'token'), 'utf8')
    await rm(join(dataDir, 'store.made'))
    await using cluster = await startCluster({ dataDir, nodes: 0 })
    expect(`${cluster.token}\n`).toBe(token)
  })

  it("does not take another cluster's store for its own", async () => {
    for (const name of ['one', 'other']) {
      await using _cluster = await startCluster({ dataDir: join(dataDir, name), nodes: 0 })
    }
    await rm(join(dataDir, 'one', 'store'), { recursive: true })
    await rename(join(dataDir, 'other', 'store'), join(dataDir, 'one', 'store'))
    await expect(startCluster({ dataDir: join(dataDir, 'one'), nodes: 0 })).rejects.toThrow(
      `it is another store than ${join(dataDir, 'one', 'store.made')} says`,
    )
  })

  it('starts with a store on disk where there was only one in memory', async () => {
    {
      await using _cluster = await startCluster({ dataDir, store: 'memory', nodes: 0 })
    }
    await using cluster = await startCluster({ dataDir, nodes: 0 })
    await cluster.client.create(configMaps, configMap('kept'))
  })

  const losses = {
    'is removed': () => rm(dataDir, { recursive: true }),
    'is emptied': async () => {
      for (const name of await readdir(dataDir)) await rm(join(dataDir, name), { recursive: true })
    },
    'loses its store': () => rm(join(dataDir, 'store'), { recursive: true }),
    'is moved away': async () => {
      await rename(dataDir, `${dataDir}.old`)
      onTestFinished(() => rm(`${dataDir}.old`, { recursive: true }))
    },
    'is replaced': async () => {
      await rename(dataDir, `${dataDir}.old`)
      onTestFinished(() => rm(`${dataDir}.old`, { recursive: true }))
      await cp(`${dataDir}.old`, dataDir, { recursive: true })
    },
  }
  it.each(Object.entries(losses))('tells once when its directory %s', async (_, lose) => {
    const virtual = virtualEnvironment()
    const onFailure = vi.fn()
    await using _cluster = await startCluster({ environment: virtual, dataDir, onFailure, nodes: 0 })
    await virtual.clock.advance('10s')
    expect(onFailure).not.toHaveBeenCalled()
    await lose()
    await virtual.clock.advance('10s')
    expect(onFailure.mock.calls).toEqual([[expect.any(DataDirectoryLostError)]])
    expect(onFailure.mock.lastCall?.[0].message).toMatch(`${dataDir} was removed or replaced`)
  })

  it('leaves a directory that exists its mode', async () => {
    await chmod(dataDir, 0o755)
    await using _cluster = await startCluster({ dataDir, nodes: 0 })
    expect((await stat(dataDir)).mode & 0o777).toBe(0o755)
  })

  it('lets go of everything when a part of it cannot start', async () => {
    await using cluster = await startCluster({ nodes: 0 })
    const { port } = new URL(cluster.url ?? '')
    const listen = { port: Number(port) }
    await expect(startCluster({ dataDir, nodes: 0, listen })).rejects.toThrow('EADDRINUSE')
    await using again = await startCluster({ dataDir, nodes: 0 })
    expect(again.url).toBeDefined()
  })

  it('runs on a virtual clock without listening, unless it is told to listen', async () => {
    await using quiet = await startCluster({ environment: virtualEnvironment() })
    expect([quiet.url, quiet.kubeconfig]).toEqual([undefined, undefined])
    await using open = await startCluster({ environment: virtualEnvironment(), listen: {} })
    const client = await outside(open)
    expect((await client.get(namespaces, { name: 'default' })).metadata.creationTimestamp).toBe('2026-01-01T00:00:00Z')
    await client.close()
  })

  it('does not run real processes on a virtual clock', async () => {
    await expect(startCluster({ environment: virtualEnvironment(), runtime: 'process' })).rejects.toThrow(
      'use the simulated runtime',
    )
  })
})
