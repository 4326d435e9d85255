import type { SigningAlgorithm } from '@coracle/apiserver/trusted-issuers'
import { CliError } from '../cli-error.ts'
import { flagFile } from './flag-file.ts'

/** kube-apiserver's flags of the same names: one issuer, in place of a configuration in a file. */
export interface OidcFlags {
  readonly oidcIssuerUrl?: string
  readonly oidcClientId?: string
  readonly oidcUsernameClaim?: string
  readonly oidcUsernamePrefix?: string
  readonly oidcGroupsClaim?: string
  readonly oidcGroupsPrefix?: string
  /** `claim=value`, each. */
  readonly oidcRequiredClaim?: readonly string[]
  readonly oidcCaFile?: string
  readonly oidcSigningAlgs?: readonly string[]
}

/** An AuthenticationConfiguration, as JSON, and by what tokens may be signed. */
export interface OidcAuthentication {
  readonly configuration: string
  readonly signingAlgorithms: readonly SigningAlgorithm[]
}

/** Those that tokens may be signed with at all. */
const signingAlgorithms = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'] as const

/** What the flags stand for, as kube-apiserver reads them; undefined where there are none. Throws a CliError that names the flag that is wrong. */
export function oidcAuthenticationOf(flags: OidcFlags, workingDirectory: string): OidcAuthentication | undefined {
  const given = [
    flags.oidcIssuerUrl,
    flags.oidcClientId,
    flags.oidcUsernameClaim,
    flags.oidcUsernamePrefix,
    flags.oidcGroupsClaim,
    flags.oidcGroupsPrefix,
    flags.oidcRequiredClaim,
    flags.oidcCaFile,
    flags.oidcSigningAlgs,
  ]
  if (given.every((flag) => flag === undefined)) return undefined
  const { oidcIssuerUrl: url = '', oidcClientId: clientId = '', oidcSigningAlgs = ['RS256'] } = flags
  if (url === '' || clientId === '') {
    throw new CliError('--oidc-issuer-url and --oidc-client-id must be given together when any --oidc-* flag is')
  }
  const { oidcCaFile, oidcGroupsClaim = '', oidcGroupsPrefix = '' } = flags
  const authority = oidcCaFile === undefined ? undefined : flagFile(workingDirectory, oidcCaFile, '--oidc-ca-file')
  const groups = oidcGroupsClaim === '' ? undefined : { claim: oidcGroupsClaim, prefix: oidcGroupsPrefix }
  const issuer = { url, audiences: [clientId], certificateAuthority: authority?.toString() }
  const claimMappings = { username: usernameOf(flags, url), groups }
  const claimValidationRules = requiredClaims(flags.oidcRequiredClaim ?? [])
  const configuration = JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [{ issuer, claimMappings, claimValidationRules }],
  })
  return { configuration, signingAlgorithms: oidcSigningAlgs.map(signingAlgorithm) }
}

function signingAlgorithm(name: string): SigningAlgorithm {
  const found = signingAlgorithms.find((each) => each === name)
  if (found !== undefined) return found
  throw new CliError(`--oidc-signing-algs: ${name} is none of ${signingAlgorithms.join(', ')}`)
}

/** Whoever says no prefix gets that of the issuer, but for addresses of mail, which are nobody else's; `-` is none. */
function usernameOf({ oidcUsernameClaim: claim = 'sub', oidcUsernamePrefix: given = '' }: OidcFlags, url: string) {
  if (given === '-') return { claim, prefix: '' }
  return { claim, prefix: given === '' && claim !== 'email' ? `${url}#` : given }
}

function requiredClaims(pairs: readonly string[]) {
  const rules = pairs.map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) throw new CliError(`--oidc-required-claim: ${JSON.stringify(pair)} is no claim=value`)
    return { claim: pair.slice(0, at), requiredValue: pair.slice(at + 1) }
  })
  return rules.sort((a, b) => (a.claim < b.claim ? -1 : 1))
}
