import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { namespaces } from '@coracle/api'
import { connectionOf, createHttpClient, type HttpClient, parseKubeconfig } from '@coracle/client'
import { type Environment, realEnvironment, silentLogger } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { startCluster } from '../src/index.ts'

const environment = realEnvironment(silentLogger)
const dayMs = 86_400_000

/** The world of a server that was started so long ago, in which it gets `catchUp` to be today: as on a machine that slept. */
function startedBefore(ageMs: number): { readonly past: Environment; readonly catchUp: () => void } {
  const { clock } = environment
  let presentMs = -ageMs
  const looks = new Set<() => void>()
  return {
    past: {
      ...environment,
      clock: {
        ...clock,
        now: () => clock.now() + presentMs,
        setTimer(delayMs, callback, options) {
          if (delayMs !== 3_600_000 || options?.housekeeping !== true) return clock.setTimer(delayMs, callback, options)
          looks.add(callback)
          return { cancel: () => looks.delete(callback) }
        },
      },
    },
    catchUp() {
      presentMs = 0
      const due = [...looks]
      looks.clear()
      for (const look of due) look()
    },
  }
}

async function shownBy(url: string): Promise<X509Certificate> {
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false })
  const shown = await new Promise<X509Certificate>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('secureConnect', () => resolve(socket.getPeerX509Certificate() as X509Certificate))
  })
  socket.destroy()
  return shown
}

async function clientOf(kubeconfig: string): Promise<HttpClient> {
  const client = createHttpClient({
    ...(await connectionOf(await parseKubeconfig(kubeconfig, 'kubeconfig'), environment)),
    ...environment,
  })
  onTestFinished(() => client.close())
  return client
}

it('a server that runs for a year shows a new certificate, and has written a new kubeconfig; watches go on', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'renewal-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const { past, catchUp } = startedBefore(340 * dayMs)
  const told = Promise.withResolvers<void>()
  await using cluster = await startCluster({
    ...{ environment: past, dataDir, store: 'memory', nodes: 0 },
    onKubeconfigRenewed: () => told.resolve(),
  })
  const { url = '', kubeconfig: former = '', kubeconfigPath = '' } = cluster
  const before = await shownBy(url)
  const watched = await (await clientOf(former)).watch(namespaces, { resourceVersion: '0' })
  const watch = watched[Symbol.asyncIterator]()
  await watch.next()

  catchUp()
  await told.promise

  const after = await shownBy(url)
  expect(after.validToDate.getTime() - before.validToDate.getTime()).toBeGreaterThan(300 * dayMs)
  expect(after.subjectAltName).toBe(before.subjectAltName)
  const { kubeconfig = '' } = cluster
  expect(kubeconfig).not.toBe(former)
  expect(await readFile(kubeconfigPath, 'utf8')).toBe(kubeconfig)
  const kept = await readFile(join(dataDir, 'pki', 'apiserver.crt'), 'utf8')
  expect(new X509Certificate(kept).fingerprint256).toBe(after.fingerprint256)
  const made = { apiVersion: 'v1' as const, kind: 'Namespace' as const, metadata: { name: 'made-later' } }
  await (await clientOf(kubeconfig)).create(namespaces, made)
  for (;;) {
    const { value } = await watch.next()
    if (value?.type === 'ADDED' && value.object.metadata.name === 'made-later') break
  }
})
