import type { PeerCertificate } from 'node:tls'
import { trusting } from '@coracle/environment'
import type { TransportOptions } from './http-transport.ts'

/** Who one wants to be taken for, by whoever may ask for it. */
export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Headers that say who makes a request. A list is a header that is sent more than once. */
export type CredentialHeaders = Readonly<Record<string, string | string[]>>

/** The headers that go with each request of a connection; the token is asked for anew each time. */
export async function credentialHeaders({
  token,
  basic,
  impersonate,
}: Pick<TransportOptions, 'token' | 'basic' | 'impersonate'>): Promise<CredentialHeaders> {
  const present = typeof token === 'function' ? await token() : token
  return {
    ...(present !== undefined && present !== ''
      ? { authorization: `${bearer}${present}` }
      : basic === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}` }),
    ...(impersonate === undefined ? {} : impersonationHeaders(impersonate)),
  }
}

/** The token in the headers of a request; '' where there is none. */
export function bearerTokenOf({ authorization }: CredentialHeaders): string {
  return typeof authorization === 'string' && authorization.startsWith(bearer) ? authorization.slice(bearer.length) : ''
}

const bearer = 'Bearer '

/** What of a connection others may change while it is in use: PEM, or the paths of files of it. */
export interface TlsParts {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** Whether both make the same connection. */
export const isSameTls = (a: TlsParts, b: TlsParts): boolean => a.ca === b.ca && a.cert === b.cert && a.key === b.key

/** A connection with what it is to be made with at the moment. */
export const withPresentTls = async <T extends TransportOptions>(options: T): Promise<T> =>
  options.tlsNow === undefined ? options : { ...options, ...(await options.tlsNow()) }

/** How TLS to the server is set up: options of `tls.connect`. */
export function tlsOptionsOf(options: TransportOptions) {
  const { ca, cert, key, serverName, verifyServer, insecureSkipTlsVerify } = options
  return {
    ...(ca === undefined ? {} : trusting(ca)),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(verifyServer === undefined
      ? {}
      : { checkServerIdentity: (_: string, certificate: PeerCertificate) => verifyServer(certificate) }),
    ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  }
}

function impersonationHeaders({ user, uid, groups = [], extra = {} }: Impersonation): CredentialHeaders {
  return {
    'Impersonate-User': user,
    ...(uid === undefined ? {} : { 'Impersonate-Uid': uid }),
    ...(groups.length === 0 ? {} : { 'Impersonate-Group': [...groups] }),
    ...Object.fromEntries(
      Object.entries(extra).map(([name, values]) => [`Impersonate-Extra-${encodeURIComponent(name)}`, [...values]]),
    ),
  }
}
