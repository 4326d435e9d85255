import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Clock } from '@coracle/environment'
import { isSameTls, type TlsParts } from './connection-credentials.ts'
import type { TransportOptions } from './http-transport.ts'
import { readConfigFile } from './kubeconfig-document.ts'

type TlsNow = NonNullable<TransportOptions['tlsNow']>

/** Files are read again after so long: certificates in them are renewed (client-go looks at each handshake, and every five minutes). */
const tlsFilesFreshMs = 60_000

/**
 * Gives what files hold, read anew when it is older than a minute; undefined where there are none. Where one is missing or empty, or a
 * certificate has another key, as while another program writes them, what was there before goes on.
 */
export function tlsFiles(paths: TlsParts, first: TlsParts, clock: Clock): TlsNow | undefined {
  const names = (['ca', 'cert', 'key'] as const).filter((name) => paths[name] !== undefined)
  if (names.length === 0) return undefined
  let present: TlsParts = first
  let readMs = clock.monotonicMs()
  return async () => {
    const nowMs = clock.monotonicMs()
    if (nowMs - readMs < tlsFilesFreshMs) return present
    try {
      const read = await Promise.all(
        names.map(async (name) => [name, await readConfigFile(paths[name] ?? '')] as const),
      )
      const found: TlsParts = { ...first, ...Object.fromEntries(read) }
      if (!isSameTls(found, present)) checkUsable(found)
      present = found
      readMs = nowMs
    } catch {
      // It is tried again with the next request.
    }
    return present
  }
}

/** Of several that give parts of a connection, the later ones go before. */
export function tlsOf(...given: readonly (TlsNow | undefined)[]): Pick<TransportOptions, 'tlsNow'> {
  const all = given.filter((each) => each !== undefined)
  if (all.length === 0) return {}
  return { tlsNow: async () => Object.assign({}, ...(await Promise.all(all.map((each) => each())))) }
}

/** Throws where no connection can be made with them. */
function checkUsable({ ca, cert, key }: TlsParts): void {
  if (ca?.includes('-----BEGIN ') === false) throw new Error('no certificate of an authority')
  if (cert === undefined || key === undefined) return
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) throw new Error('a key of another certificate')
}
