import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '@coracle/environment'
import {
  adminIdentity,
  coversHosts,
  createAuthority,
  issueClientCertificate,
  issueServingCertificate,
  type KeyPair,
  type Pki,
} from './certificates.ts'
import { makePrivateDirectory, writePrivateFile } from './private-files.ts'

/** A certificate that ends sooner than this is replaced at start. */
const renewBeforeMs = 30 * 86_400_000

/**
 * The certificates under `<dataDir>/pki`: made on the first start, the same on every further one. The serving
 * certificate is renewed where it ends soon or does not cover `hosts`; the admin's where it ends soon. Rejects with
 * an Error that names the file where one cannot be used.
 */
export async function loadOrCreatePki(
  environment: Environment,
  dataDir: string,
  hosts: readonly string[] = [],
): Promise<Pki> {
  const directory = join(dataDir, 'pki')
  await makePrivateDirectory(directory)
  const ca = (await load(directory, 'ca')) ?? (await save(directory, 'ca', createAuthority(environment)))
  const authority = new X509Certificate(ca.certificatePem)
  assertLasting(environment, authority, directory)

  const reuse = async (name: string, usable: (certificate: X509Certificate) => boolean, make: () => KeyPair) => {
    const kept = await load(directory, name)
    if (kept !== undefined) {
      const certificate = new X509Certificate(kept.certificatePem)
      if (lasts(environment, certificate) && certificate.verify(authority.publicKey) && usable(certificate)) return kept
      environment.logger.info('renewing certificate', { certificate: name })
    }
    return save(directory, name, make())
  }
  return {
    ca,
    serving: await reuse(
      'apiserver',
      (certificate) => coversHosts(certificate, hosts),
      () => issueServingCertificate(environment, ca, hosts),
    ),
    admin: await reuse(
      'admin',
      () => true,
      () => issueClientCertificate(environment, ca, adminIdentity),
    ),
  }
}

const lasts = ({ clock }: Environment, certificate: X509Certificate): boolean =>
  certificate.validToDate.getTime() - clock.now() > renewBeforeMs

/** A new authority would lock out everyone who trusts the old one, so that is left to the operator. */
function assertLasting(environment: Environment, authority: X509Certificate, directory: string): void {
  if (authority.validToDate.getTime() > environment.clock.now()) return
  throw new Error(
    `the certificate authority in ${join(directory, 'ca.crt')} ended on ${authority.validTo}: ` +
      `remove ${directory} to have all certificates made anew (clients then need the new ca.crt)`,
  )
}

/** Undefined where neither file is there. */
async function load(directory: string, name: string): Promise<KeyPair | undefined> {
  const certificatePath = join(directory, `${name}.crt`)
  const keyPath = join(directory, `${name}.key`)
  const certificatePem = await readIfThere(certificatePath)
  const keyPem = await readIfThere(keyPath)
  if (certificatePem === undefined && keyPem === undefined) return undefined
  if (certificatePem === undefined) throw unusable(certificatePath, 'the file is missing, but its key is there')
  if (keyPem === undefined) throw unusable(keyPath, 'the file is missing, but its certificate is there')

  const certificate = parse(certificatePath, 'a certificate', () => new X509Certificate(certificatePem))
  const key = parse(keyPath, 'a private key', () => createPrivateKey(keyPem))
  if (!certificate.checkPrivateKey(key)) throw unusable(keyPath, `it is not the key of ${certificatePath}`)
  return { certificatePem, keyPem }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unusable(path, String((error as Error).message))
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

/** The key goes first: a certificate without its key would be refused at the next start. */
async function save(directory: string, name: string, pair: KeyPair): Promise<KeyPair> {
  await writePrivateFile(join(directory, `${name}.key`), pair.keyPem)
  await writePrivateFile(join(directory, `${name}.crt`), pair.certificatePem)
  return pair
}
