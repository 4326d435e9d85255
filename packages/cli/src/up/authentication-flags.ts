import { X509Certificate } from 'node:crypto'
import { parseTokenFile } from '@coracle/apiserver'
import type { ClusterOptions } from '@coracle/cluster'
import { CliError } from '../cli-error.ts'
import { flagFile } from './flag-file.ts'

/** kube-apiserver's flags of the same names. */
export interface AuthenticationFlags {
  readonly tokenAuthFile?: string
  readonly clientCaFile?: string
}

/** Who may use the API beside the administrator, as files say. Throws a CliError that names the file. */
export function authenticationOf(
  { tokenAuthFile, clientCaFile }: AuthenticationFlags,
  workingDirectory: string,
): Pick<ClusterOptions, 'tokens' | 'clientCaPem'> {
  const parsed = <T>(flag: string, path: string, parse: (text: string) => T): T => {
    const text = flagFile(workingDirectory, path, flag).toString()
    try {
      return parse(text)
    } catch (error) {
      throw new CliError(`${flag}: ${path}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return {
    ...(tokenAuthFile === undefined ? {} : { tokens: parsed('--token-auth-file', tokenAuthFile, parseTokenFile) }),
    ...(clientCaFile === undefined ? {} : { clientCaPem: parsed('--client-ca-file', clientCaFile, certificatesIn) }),
  }
}

/** The certificates of a PEM file, and nothing else of it. */
function certificatesIn(text: string): string {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0) throw new Error('has no certificate in PEM (BEGIN CERTIFICATE)')
  return found.map((pem) => new X509Certificate(pem).toString()).join('')
}
