import { X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import { parseTokenFile } from '@coracle/apiserver'
import type { ClusterOptions } from '@coracle/cluster'
import { CliError } from '../cli-error.ts'
import { flagFile } from './flag-file.ts'
import type { OidcFlags } from './oidc-flags.ts'

/** kube-apiserver's flags of the same names. */
export interface AuthenticationFlags extends OidcFlags {
  readonly tokenAuthFile?: string
  readonly clientCaFile?: string
  readonly authenticationConfig?: string
}

/** Who may use the API beside the administrator, as files say. Rejects with a CliError that names the file. */
export async function authenticationOf(
  { tokenAuthFile, clientCaFile, authenticationConfig, ...others }: AuthenticationFlags,
  workingDirectory: string,
): Promise<Pick<ClusterOptions, 'tokens' | 'clientCaPem' | 'authenticationConfig' | 'authentication'>> {
  const parsed = <T>(flag: string, path: string, parse: (text: string) => T): T => {
    const text = flagFile(workingDirectory, path, flag).toString()
    try {
      return parse(text)
    } catch (error) {
      throw new CliError(`${flag}: ${path}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const config = authenticationConfig === undefined ? undefined : resolve(workingDirectory, authenticationConfig)
  const authentication = await oidcOf(others, workingDirectory)
  if (config !== undefined && authentication !== undefined)
    throw new CliError('--authentication-config and the --oidc-* flags exclude each other')
  if (config !== undefined) await checkConfiguration(config)
  return {
    ...(authentication === undefined ? {} : { authentication }),
    ...(config === undefined ? {} : { authenticationConfig: config }),
    ...(tokenAuthFile === undefined ? {} : { tokens: parsed('--token-auth-file', tokenAuthFile, parseTokenFile) }),
    ...(clientCaFile === undefined ? {} : { clientCaPem: parsed('--client-ca-file', clientCaFile, certificatesIn) }),
  }
}

/** What the flags for one issuer stand for; undefined where there are none. Rejects with a CliError where that makes no sense. */
async function oidcOf(flags: OidcFlags, workingDirectory: string): Promise<ClusterOptions['authentication']> {
  if (!Object.keys(flags).some((name) => name.startsWith('oidc'))) return undefined
  const { oidcAuthenticationOf } = await import('./oidc-flags.ts')
  const authentication = oidcAuthenticationOf(flags, workingDirectory)
  if (authentication === undefined) return undefined
  const { parseAuthenticationConfiguration } = await import('@coracle/apiserver/trusted-issuers')
  try {
    parseAuthenticationConfiguration(authentication.configuration)
  } catch (error) {
    throw new CliError(`--oidc-*: ${error instanceof Error ? error.message : String(error)}`)
  }
  return authentication
}

/** Rejects with a CliError where the server could not start with this configuration. */
async function checkConfiguration(path: string): Promise<void> {
  const { readAuthenticationConfiguration } = await import('@coracle/apiserver/trusted-issuers')
  await readAuthenticationConfiguration(path).catch((error: Error) => {
    throw new CliError(`--authentication-config: ${error.message}`)
  })
}

/** The certificates of a PEM file, and nothing else of it. */
function certificatesIn(text: string): string {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0) throw new Error('has no certificate in PEM (BEGIN CERTIFICATE)')
  return found.map((pem) => new X509Certificate(pem).toString()).join('')
}
