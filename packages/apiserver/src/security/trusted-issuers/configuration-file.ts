import { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { describeFieldError } from '@coracle/api'
import { compileAuthenticationConfiguration, decodeAuthenticationConfiguration } from '@coracle/api/authentication'
import type { Timer } from '@coracle/environment'
import { parseYamlText } from '../../http/yaml-text.ts'
import { serviceAccountIssuer } from '../../service-account-tokens/service-account-tokens.ts'
import { type CheckedConfiguration, TrustedIssuers, type TrustedIssuersOptions } from './trusted-issuers.ts'

/** How often it is looked whether the file has changed. */
const lookMs = 10_000

/** Longer files are refused. */
const fileBytesMax = 1024 * 1024

/** The configuration that a text is, in YAML or JSON. Throws an Error that names the fields that are wrong. */
export function parseAuthenticationConfiguration(text: string): CheckedConfiguration {
  const { value, duplicates, problem } = parseYamlText(text)
  if (problem !== undefined) throw new Error(problem)
  if (duplicates.length > 0) throw new Error(duplicates.join('; '))
  const configuration = decodeAuthenticationConfiguration(value)
  const { issuers, problems } = compileAuthenticationConfiguration(configuration, {
    disallowedIssuers: [serviceAccountIssuer],
    certificateProblem,
  })
  if (problems.length > 0) throw new Error(problems.map(describeFieldError).join(', '))
  return { issuers, anonymous: configuration.anonymous }
}

function certificateProblem(pem: string): string | undefined {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0) return 'data does not contain any valid RSA or ECDSA certificates'
  try {
    for (const each of found) new X509Certificate(each)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Whom the file at `path` trusts, as it is now. Rejects with an Error that names the file, and what is wrong with it. */
export async function readAuthenticationConfiguration(path: string): Promise<CheckedConfiguration> {
  return (await readText(path)).parse()
}

/** The text of the file at `path`, to be parsed. Both name the file in what they throw. */
async function readText(path: string): Promise<{ readonly text: string; parse(): CheckedConfiguration }> {
  const named = (error: unknown) => new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  try {
    const { size } = await stat(path)
    if (size > fileBytesMax) throw new Error(`has ${size} bytes: must have ${fileBytesMax} at most`)
    const text = await readFile(path, 'utf8')
    const parse = () => {
      try {
        return parseAuthenticationConfiguration(text)
      } catch (error) {
        throw named(error)
      }
    }
    return { text, parse }
  } catch (error) {
    throw named(error)
  }
}

/**
 * Whom the file at `path` trusts, also after it has changed: it is looked at every ten seconds. One that has become wrong changes nothing, and is
 * logged. Rejects where it is wrong to begin with. `close` ends the looking.
 */
export async function followAuthenticationConfiguration(
  path: string,
  options: TrustedIssuersOptions,
): Promise<{ readonly issuers: TrustedIssuers; close(): void }> {
  const { hostClock, logger, metrics } = options
  let last = await stampOf(path)
  const first = await readText(path)
  const issuers = new TrustedIssuers(first.parse(), options)
  let inForce = first.text
  metrics?.applied(inForce)
  let timer: Timer | undefined
  let isClosed = false
  const look = async (): Promise<void> => {
    await readAnew()
    if (!isClosed) lookAgain()
  }
  const readAnew = async (): Promise<void> => {
    const stamp = await stampOf(path)
    if (stamp !== last) {
      last = stamp
      try {
        const { text, parse } = await readText(path)
        if (text === inForce) return
        issuers.replace(parse())
        inForce = text
        metrics?.reloaded('success')
        metrics?.applied(text)
        logger.info('the configuration of authentication was read anew', { path })
      } catch (error) {
        metrics?.reloaded('failure')
        logger.error('the configuration of authentication stays as it was: its file is wrong', { error })
      }
    }
  }
  const lookAgain = (): void => {
    timer = hostClock.setTimer(lookMs, () => void hostClock.hold(look()))
  }
  lookAgain()
  return {
    issuers,
    close() {
      isClosed = true
      timer?.cancel()
    },
  }
}

/** Changes with the file; empty where there is none. */
async function stampOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  return found === undefined ? '' : `${found.dev} ${found.ino} ${found.mtimeNs} ${found.size}`
}
