import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import type { Environment } from '@coracle/environment'
import {
  adminIdentity,
  coversHosts,
  createAuthority,
  createServiceAccountKey,
  issueApiCertificate,
  issueClientCertificate,
  type KeyPair,
  type Pki,
} from './certificates.ts'
import { type FileSystem, hostFiles, type PrivateFile, writePrivateFiles } from './private-files.ts'

/** A certificate that ends sooner than this is replaced at start. */
const renewBeforeMs = 30 * 86_400_000

/**
 * The certificates under `<dataDir>/pki`: made on the first start, the same on every further one. The serving
 * certificate is renewed where it ends soon or does not cover `hosts`; the admin's where it ends soon. What an
 * interrupted start has left is completed. Rejects with an Error that names the file where one cannot be used.
 */
export async function loadOrCreatePki(
  environment: Environment,
  dataDir: string,
  hosts: readonly string[] = [],
  files: FileSystem = hostFiles,
): Promise<Pki> {
  const directory = join(dataDir, 'pki')
  const made = new Map<string, KeyPair>()
  const make = (name: string, pair: KeyPair): KeyPair => {
    made.set(name, pair)
    return pair
  }

  const kept = await readPair(files, directory, 'ca')
  const ca = wholeAuthority(kept) ?? make('ca', makeAuthority(environment, kept))
  const authority = new X509Certificate(ca.certificatePem)
  assertLasting(environment, authority, directory)

  const leaf = async (name: string, usable: (certificate: X509Certificate) => boolean, issue: () => KeyPair) => {
    const pair = await readPair(files, directory, name)
    if (isUsable(environment, pair, authority) && usable(pair.certificate)) return pair.pems
    if (pair.certificate !== undefined) environment.logger.info('renewing certificate', { certificate: name })
    return make(name, issue())
  }
  const serving = await leaf(
    fileNames.serving,
    (certificate) => coversHosts(certificate, hosts),
    () => issueApiCertificate(environment, ca, hosts),
  )
  const admin = await leaf(
    fileNames.admin,
    () => true,
    () => issueClientCertificate(environment, ca, adminIdentity),
  )
  const keyPath = join(directory, 'sa.key')
  const keptKey = await read(files, keyPath)
  if (keptKey !== undefined) assertSigns(keyPath, keptKey)
  const serviceAccountKeyPem = keptKey ?? createServiceAccountKey()
  await save(files, directory, made, keptKey === undefined ? [{ path: keyPath, content: serviceAccountKeyPem }] : [])
  return { ca, serving, admin, serviceAccountKeyPem }
}

/** Puts a certificate that was renewed, with its key, in the place of the one that `loadOrCreatePki` has given. */
export function keepCertificate(
  dataDir: string,
  name: 'serving' | 'admin',
  pair: KeyPair,
  files: FileSystem = hostFiles,
): Promise<void> {
  return save(files, join(dataDir, 'pki'), new Map([[fileNames[name], pair]]), [])
}

const fileNames = { serving: 'apiserver', admin: 'admin' } as const

/** What the two files of a pair hold; undefined where one is missing. */
interface FoundPair {
  readonly certificatePath: string
  readonly keyPath: string
  readonly certificate: X509Certificate | undefined
  readonly key: KeyObject | undefined
  readonly pems: KeyPair
}

/** Throws where a file is there and is not what it should be. */
async function readPair(files: FileSystem, directory: string, name: string): Promise<FoundPair> {
  const certificatePath = join(directory, `${name}.crt`)
  const keyPath = join(directory, `${name}.key`)
  const certificatePem = await read(files, certificatePath)
  const keyPem = await read(files, keyPath)
  return {
    certificatePath,
    keyPath,
    certificate:
      certificatePem === undefined
        ? undefined
        : parse(certificatePath, 'a certificate', () => new X509Certificate(certificatePem)),
    key: keyPem === undefined ? undefined : parse(keyPath, 'a private key', () => createPrivateKey(keyPem)),
    pems: { certificatePem: certificatePem ?? '', keyPem: keyPem ?? '' },
  }
}

/** Tokens are signed by keys of one algorithm. */
function assertSigns(path: string, pem: string): void {
  const key = parse(path, 'a private key', () => createPrivateKey(pem))
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw unusable(path, 'it is no key of ECDSA on P-256')
}

/** The authority as it was kept; undefined when it is still to be made. Throws where it was and is no more. */
function wholeAuthority({ certificate, key, certificatePath, keyPath, pems }: FoundPair): KeyPair | undefined {
  if (certificate === undefined) return undefined
  if (key === undefined) throw unusable(keyPath, 'the file is missing, but its certificate is there')
  if (!certificate.checkPrivateKey(key)) throw unusable(keyPath, `it is not the key of ${certificatePath}`)
  return pems
}

/**
 * A key alone is what a start leaves that is interrupted, or somebody who lost the certificate: it gets one. With the same key
 * under the same name, whoever trusts an earlier certificate of that key trusts what is signed from now on.
 */
function makeAuthority(environment: Environment, { key, keyPath }: FoundPair): KeyPair {
  if (key === undefined) return createAuthority(environment)
  if (key.asymmetricKeyType !== 'ec')
    throw unusable(keyPath, 'its certificate is missing, and this is no key of Coracle')
  return createAuthority(environment, key)
}

/**
 * Whether a certificate that this authority signs is there with its key and will last. If only one is there, or they are of
 * different pairs, a start was interrupted while it made or renewed them.
 */
function isUsable(
  { clock }: Environment,
  pair: FoundPair,
  authority: X509Certificate,
): pair is FoundPair & { readonly certificate: X509Certificate } {
  const { certificate, key } = pair
  return (
    certificate !== undefined &&
    key !== undefined &&
    certificate.checkPrivateKey(key) &&
    certificate.validToDate.getTime() - clock.now() > renewBeforeMs &&
    certificate.checkIssued(authority) &&
    certificate.verify(authority.publicKey)
  )
}

/** A new authority would lock out everyone who trusts the old one, so that is left to the operator. */
function assertLasting(environment: Environment, authority: X509Certificate, directory: string): void {
  if (authority.validToDate.getTime() > environment.clock.now()) return
  throw new Error(
    `the certificate authority in ${join(directory, 'ca.crt')} ended on ${authority.validTo}: ` +
      `remove ${directory} to have all certificates made anew (clients then need the new ca.crt)`,
  )
}

/** Keys first: a key without its certificate is unfinished, a certificate without its key was lost. */
function save(
  files: FileSystem,
  directory: string,
  made: ReadonlyMap<string, KeyPair>,
  keys: readonly PrivateFile[],
): Promise<void> {
  const pairs = [...made]
  if (pairs.length === 0 && keys.length === 0) return Promise.resolve()
  return writePrivateFiles(files, [
    [...pairs.map(([name, { keyPem }]) => ({ path: join(directory, `${name}.key`), content: keyPem })), ...keys],
    pairs.map(([name, { certificatePem }]) => ({ path: join(directory, `${name}.crt`), content: certificatePem })),
  ])
}

async function read(files: FileSystem, path: string): Promise<string | undefined> {
  try {
    return await files.read(path)
  } catch (error) {
    throw unusable(path, error instanceof Error ? error.message : String(error))
  }
}

function parse<T>(path: string, what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw unusable(path, `it is not ${what} in PEM (${(error as Error).message})`)
  }
}

const unusable = (path: string, why: string): Error =>
  new Error(`cannot use ${path}: ${why}; restore the file, or remove it with its counterpart to have both made anew`)
