import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { chmod, mkdir, mkdtemp, open as openFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseKubeconfig } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority } from './certificates.ts'
import { kubeconfigOf, writeKubeconfig } from './kubeconfig.ts'
import { loadOrCreatePki } from './pki-files.ts'
import { loadOrCreateToken } from './token.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pki-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const dayMs = 86_400_000
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

describe('loadOrCreatePki', () => {
  it.each([0, 0o022, 0o077, 0o277])('makes files only their owner can read, under umask %o', async (mask) => {
    const umask = process.umask(mask)
    await loadOrCreatePki(virtualEnvironment(), dataDir).finally(() => process.umask(umask))
    expect(await modeOf(join(dataDir, 'pki'))).toBe('700')
    const files = await readdir(join(dataDir, 'pki'))
    expect(files.sort()).toEqual([
      'admin.crt',
      'admin.key',
      'apiserver.crt',
      'apiserver.key',
      'ca.crt',
      'ca.key',
      'sa.key',
    ])
    for (const file of files) expect(await modeOf(join(dataDir, 'pki', file))).toBe('600')
  })

  it('is the same at the next start', async () => {
    const environment = virtualEnvironment()
    const first = await loadOrCreatePki(environment, dataDir, ['10.0.0.1'])
    expect(await loadOrCreatePki(environment, dataDir, ['10.0.0.1'])).toEqual(first)
  })

  it('has a key for tokens, also where an older version has made the rest', async () => {
    const first = await loadOrCreatePki(virtualEnvironment(), dataDir)
    await rm(join(dataDir, 'pki', 'sa.key'))
    const second = await loadOrCreatePki(virtualEnvironment(), dataDir)
    expect(second.ca).toEqual(first.ca)
    expect(second.serviceAccountKeyPem).not.toBe(first.serviceAccountKeyPem)
    expect(createPrivateKey(second.serviceAccountKeyPem).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  })

  it.each([
    ['no key', 'nonsense', 'it is not a private key in PEM'],
    [
      'a key of another kind',
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
      'it is no key of ECDSA on P-256',
    ],
  ])('names the file where the key for tokens is %s', async (_, content, problem) => {
    await loadOrCreatePki(virtualEnvironment(), dataDir)
    await writeFile(join(dataDir, 'pki', 'sa.key'), content)
    await expect(loadOrCreatePki(virtualEnvironment(), dataDir)).rejects.toThrow(
      `cannot use ${join(dataDir, 'pki', 'sa.key')}: ${problem}`,
    )
  })

  it('renews the serving certificate alone when it does not cover an address', async () => {
    const environment = virtualEnvironment()
    const first = await loadOrCreatePki(environment, dataDir)
    const second = await loadOrCreatePki(environment, dataDir, ['10.0.0.1'])
    expect(second.ca).toEqual(first.ca)
    expect(second.admin).toEqual(first.admin)
    expect(new X509Certificate(second.serving.certificatePem).checkIP('10.0.0.1')).toBe('10.0.0.1')
  })

  it('renews what ends within a month, under the same authority', async () => {
    const environment = virtualEnvironment()
    const first = await loadOrCreatePki(environment, dataDir)
    const later = virtualEnvironment({ start: '2026-12-15T00:00:00Z', seed: 2 })
    const second = await loadOrCreatePki(later, dataDir)
    expect(second.ca).toEqual(first.ca)
    const { validToDate } = new X509Certificate(second.admin.certificatePem)
    expect(validToDate.getTime()).toBe(later.clock.now() + 365 * dayMs)
  })

  it('renews what another authority has signed', async () => {
    const environment = virtualEnvironment()
    await loadOrCreatePki(environment, dataDir)
    const ca = createAuthority(environment)
    await writeFile(join(dataDir, 'pki', 'ca.crt'), ca.certificatePem)
    await writeFile(join(dataDir, 'pki', 'ca.key'), ca.keyPem)
    const { serving } = await loadOrCreatePki(environment, dataDir)
    expect(new X509Certificate(serving.certificatePem).verify(new X509Certificate(ca.certificatePem).publicKey)).toBe(
      true,
    )
  })

  it.each(['ca.crt', 'apiserver.key'])('names %s when it is corrupt', async (file) => {
    await loadOrCreatePki(virtualEnvironment(), dataDir)
    await writeFile(join(dataDir, 'pki', file), 'garbage')
    await expect(loadOrCreatePki(virtualEnvironment(), dataDir)).rejects.toThrow(
      `cannot use ${join(dataDir, 'pki', file)}`,
    )
  })

  it.each([
    ['apiserver', 'key'],
    ['apiserver', 'crt'],
    ['admin', 'key'],
    ['admin', 'crt'],
  ])('makes a pair anew of which only one file is left: %s.%s', async (name, left) => {
    const environment = virtualEnvironment()
    const { ca } = await loadOrCreatePki(environment, dataDir)
    await rm(join(dataDir, 'pki', `${name}.${left === 'key' ? 'crt' : 'key'}`))
    const pki = await loadOrCreatePki(environment, dataDir)
    expect(pki.ca).toEqual(ca)
    expect(await loadOrCreatePki(environment, dataDir)).toEqual(pki)
  })

  it('gives a lone key of an authority a certificate that signs for those who trust the one before', async () => {
    const environment = virtualEnvironment()
    const before = await loadOrCreatePki(environment, dataDir)
    await rm(join(dataDir, 'pki', 'ca.crt'))
    const after = await loadOrCreatePki(virtualEnvironment({ seed: 2 }), dataDir, ['10.0.0.1'])
    expect(after.ca.keyPem).toBe(before.ca.keyPem)
    expect(after.admin).toEqual(before.admin)
    const trusted = new X509Certificate(before.ca.certificatePem)
    const served = new X509Certificate(after.serving.certificatePem)
    expect([served.checkIP('10.0.0.1'), served.checkIssued(trusted), served.verify(trusted.publicKey)]).toEqual([
      '10.0.0.1',
      true,
      true,
    ])
  })

  it('leaves a lone key of an authority alone that is of another kind than ours', async () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    await mkdir(join(dataDir, 'pki'))
    await writeFile(join(dataDir, 'pki', 'ca.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    await expect(loadOrCreatePki(virtualEnvironment(), dataDir)).rejects.toThrow(/ca\.key: its certificate is missing/)
  })

  it('leaves a directory that exists its mode', async () => {
    await mkdir(join(dataDir, 'pki'))
    await chmod(join(dataDir, 'pki'), 0o750)
    await loadOrCreatePki(virtualEnvironment(), dataDir)
    expect(await modeOf(join(dataDir, 'pki'))).toBe('750')
  })

  it('names a key that is missing', async () => {
    await loadOrCreatePki(virtualEnvironment(), dataDir)
    await rm(join(dataDir, 'pki', 'ca.key'))
    await expect(loadOrCreatePki(virtualEnvironment(), dataDir)).rejects.toThrow(/ca\.key: the file is missing/)
  })

  it('says what to do about an authority that has ended', async () => {
    await loadOrCreatePki(virtualEnvironment(), dataDir)
    await expect(loadOrCreatePki(virtualEnvironment({ start: '2040-01-01T00:00:00Z' }), dataDir)).rejects.toThrow(
      /certificate authority .* ended on .* remove/,
    )
  })
})

describe('loadOrCreateToken', () => {
  it('makes a token once', async () => {
    const token = await loadOrCreateToken(dataDir)
    expect(token.length).toBeGreaterThanOrEqual(43)
    expect(await loadOrCreateToken(dataDir)).toBe(token)
    expect(await modeOf(join(dataDir, 'token'))).toBe('600')
  })

  it('refuses a file that holds no token', async () => {
    await writeFile(join(dataDir, 'token'), '\n')
    await expect(loadOrCreateToken(dataDir)).rejects.toThrow('does not hold one bearer token')
  })
})

describe('a file that an interrupted start has left', () => {
  it('is replaced, and whoever has it open sees nothing of the new one', async () => {
    const left = join(dataDir, 'token.new')
    await writeFile(left, 'left', { mode: 0o666 })
    await using open = await openFile(left)
    await loadOrCreateToken(dataDir)
    expect(await open.readFile('utf8')).toBe('left')
    expect(await readdir(dataDir)).toEqual(['token'])
    expect(await modeOf(join(dataDir, 'token'))).toBe('600')
  })
})

describe('writeKubeconfig', () => {
  it('holds everything a client needs, for its owner only', async () => {
    const path = join(dataDir, 'somewhere', 'admin.conf')
    const options = {
      server: 'https://127.0.0.1:6443',
      caPem: 'CA',
      client: { certificatePem: 'CERTIFICATE', keyPem: 'KEY' },
    }
    await writeKubeconfig(path, options)
    expect(await modeOf(path)).toBe('600')
    const text = await readFile(path, 'utf8')
    expect(text).toBe(kubeconfigOf(options))
    const base64 = (part: string) => Buffer.from(part).toString('base64')
    expect(text).toContain(`certificate-authority-data: ${base64('CA')}`)
    expect(text).toContain(`client-certificate-data: ${base64('CERTIFICATE')}`)
    expect(text).toContain(`client-key-data: ${base64('KEY')}`)
    expect(text).toContain('current-context: "coracle"')

    const { ino } = await stat(path)
    await writeKubeconfig(path, options)
    expect((await stat(path)).ino).toBe(ino)
    await writeKubeconfig(path, { ...options, server: 'https://127.0.0.1:6444' })
    expect(await readFile(path, 'utf8')).toContain('https://127.0.0.1:6444')
    expect(await modeOf(path)).toBe('600')
    expect(await readdir(join(dataDir, 'somewhere'))).toEqual(['admin.conf'])
  })

  it('keeps what others have put into it, and which context is the current one', async () => {
    const path = join(dataDir, 'kubeconfig')
    const options = {
      server: 'https://127.0.0.1:6443',
      caPem: 'CA',
      client: { certificatePem: 'CERTIFICATE', keyPem: 'KEY' },
    }
    const staging = kubeconfigOf({ ...options, clusterName: 'staging' })
    await writeFile(path, `# mine\n${staging}`)
    await writeKubeconfig(path, options)
    const text = await readFile(path, 'utf8')
    expect(text).toContain('# mine\n')
    const { contexts, currentContext } = await parseKubeconfig(text, path)
    expect([...contexts.keys()]).toEqual(['staging', 'coracle'])
    expect(currentContext).toBe('staging')
    const { ino } = await stat(path)
    await writeKubeconfig(path, options)
    expect((await stat(path)).ino).toBe(ino)
  })
})
