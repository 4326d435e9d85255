import { createPrivateKey, X509Certificate } from 'node:crypto'
import { type Environment, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { KeyPair, Pki } from './certificates.ts'
import { kubeconfigOf, writeKubeconfig } from './kubeconfig.ts'
import { loadOrCreatePki } from './pki-files.ts'
import { aftermaths, VolatileFiles } from './testing/volatile-files.ts'
import { loadOrCreateToken } from './token.ts'

// Everything a start writes for its owner alone is stopped at each of its operations, by kill -9 and by a loss of power.
// The next start must find its way, and keep whatever the interrupted one has told anybody.

/** What a start has made durable, as far as it came. */
interface Started {
  token?: string
  pki?: Pki
  kubeconfig?: string
}

async function start(files: VolatileFiles, environment: Environment, hosts: readonly string[] = []): Promise<Started> {
  const started: Started = {}
  try {
    started.token = await loadOrCreateToken('/data', files)
    started.pki = await loadOrCreatePki(environment, '/data', hosts, files)
    const access = { server: 'https://127.0.0.1:6443', caPem: started.pki.ca.certificatePem, client: started.pki.admin }
    await writeKubeconfig('/data/kubeconfig', access, files)
    started.kubeconfig = kubeconfigOf(access)
  } catch (error) {
    if (!files.stopped) throw error
  }
  return started
}

function isPair({ certificatePem, keyPem }: KeyPair): boolean {
  return new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem))
}

function checkWhole({ token, pki, kubeconfig }: Started): void {
  expect(token).toMatch(/^[\w-]{43}$/)
  expect(kubeconfig).toBeDefined()
  if (pki === undefined) throw new Error('no certificates')
  const authority = new X509Certificate(pki.ca.certificatePem)
  for (const pair of [pki.ca, pki.serving, pki.admin]) {
    expect(isPair(pair)).toBe(true)
    expect(new X509Certificate(pair.certificatePem).checkIssued(authority)).toBe(true)
    expect(new X509Certificate(pair.certificatePem).verify(authority.publicKey)).toBe(true)
  }
}

const operationsMax = 200
const firstDay = () => virtualEnvironment()
const elevenMonthsLater = () => virtualEnvironment({ start: '2026-12-15T00:00:00Z', seed: 2 })

/** The file system after a first start that was not interrupted, and what that start made. */
async function used() {
  const files = new VolatileFiles()
  const started = await start(files, firstDay())
  return { files, started }
}

describe.each(aftermaths)('after $name', (aftermath) => {
  it('at any operation of the first start the next one completes it', async () => {
    let isComplete = false
    for (let operations = 0; !isComplete && operations < operationsMax; operations++) {
      const files = new VolatileFiles(operations)
      const first = await start(files, firstDay())
      isComplete = first.kubeconfig !== undefined
      const left = files.after(aftermath)
      const second = await start(left, virtualEnvironment({ seed: 2 }))
      checkWhole(second)
      expect(second).toMatchObject(first)
      expect(await start(left, virtualEnvironment({ seed: 3 }))).toEqual(second)
    }
    expect(isComplete).toBe(true)
  })

  it('at any operation of a start that renews certificates the next one does, under the same authority', async () => {
    const { files: kept, started } = await used()
    let isComplete = false
    for (let operations = 0; !isComplete && operations < operationsMax; operations++) {
      const files = kept.after(aftermath, operations)
      const renewing = await start(files, elevenMonthsLater())
      isComplete = renewing.kubeconfig !== undefined
      const after = await start(files.after(aftermath), elevenMonthsLater())
      checkWhole(after)
      expect(after).toMatchObject(renewing)
      expect([after.token, after.pki?.ca]).toEqual([started.token, started.pki?.ca])
      expect(after.pki?.serving).not.toEqual(started.pki?.serving)
    }
    expect(isComplete).toBe(true)
  })

  it('at any operation of a start that listens elsewhere the next one, which does not, has a certificate of its key', async () => {
    const { files: kept, started } = await used()
    let isComplete = false
    for (let operations = 0; !isComplete && operations < operationsMax; operations++) {
      const files = kept.after(aftermath, operations)
      isComplete = (await start(files, firstDay(), ['10.0.0.1'])).kubeconfig !== undefined
      const after = await start(files.after(aftermath), firstDay())
      checkWhole(after)
      expect([after.token, after.pki?.ca, after.pki?.admin]).toEqual([
        started.token,
        started.pki?.ca,
        started.pki?.admin,
      ])
    }
    expect(isComplete).toBe(true)
  })

  it('at start after start, each a little further on, one completes', async () => {
    let files = new VolatileFiles(0)
    let started = await start(files, firstDay())
    for (let operations = 1; started.kubeconfig === undefined && operations < operationsMax; operations++) {
      files = files.after(aftermath, operations)
      started = await start(files, virtualEnvironment({ seed: operations }))
    }
    checkWhole(started)
  })
})
