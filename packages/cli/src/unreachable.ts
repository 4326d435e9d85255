import { isIP } from 'node:net'
import { createRestClient, type HttpClient, isUnreachableServer, type UnreachableServerError } from '@coracle/client'
import { SummaryError } from './cli-error.ts'
import type { ConnectionFlags } from './connection.ts'
import type { Host } from './host.ts'
import { isLocalKubeconfig, kubeconfigFiles } from './kubeconfig/kubeconfig-files.ts'
import { placeFlagText, placesHere } from './local/cluster-place.ts'
import { readServerRecord } from './local/server-record.ts'
import { plainRefusedConnection, RefusedConnectionError } from './refused-connection.ts'

/** No connection to the server, in kubectl's words; and what starts it, where `coracle up` has left its kubeconfig here. */
export async function unreachable(
  host: Host,
  flags: ConnectionFlags,
  error: UnreachableServerError,
): Promise<SummaryError> {
  if (error.code !== 'ECONNREFUSED') {
    return new SummaryError(`Unable to connect to the server: ${certificateProblem(error) ?? error.reason}`)
  }
  const refused = new RefusedConnectionError(error.server)
  const command = await startCommand(host, flags, error.server)
  return command === undefined ? refused : new SummaryError(`${refused.message}\nStart it with \`npx ${command}\`.`)
}

/** What stands for a server where its address is none that a request can be sent to. */
export function clientOfNobody(server: string, reason: string): HttpClient {
  const refuse = (): Promise<never> =>
    Promise.reject(Object.assign(new Error(`cannot reach ${server}: ${reason}`), { code: noAddress, server, reason }))
  return createRestClient({
    send: refuse,
    open: refuse,
    openWebSocket: refuse,
    openSpdy: refuse,
    close: async () => {},
  })
}

/** The code of errors of such a server. */
const noAddress = 'ERR_INVALID_ADDRESS'

/** Whether it is certain that nobody was asked, which some commands take as knowing nothing: who is not trusted is not asked, either. */
export const isNobody = (error: UnreachableServerError): boolean =>
  error.code === 'ECONNREFUSED' || error.code === noAddress || certificateProblem(error) !== undefined

/** The same as a part of another message, in the words of Go; undefined for other errors. */
export function plainUnreachable(error: unknown, verb: string, path: string): string | undefined {
  const refused = plainRefusedConnection(error, verb, path)
  if (refused !== undefined || !isUnreachableServer(error)) return refused
  const problem = error.code === noAddress ? error.reason : certificateProblem(error)
  return problem === undefined ? undefined : `${verb} ${JSON.stringify(`${error.server}${path}`)}: ${problem}`
}

/** Why the certificate of a server is not taken, in the words of Go. */
function certificateProblem({ code, cause }: UnreachableServerError): string | undefined {
  const failed = 'tls: failed to verify certificate: x509:'
  if (untrusted.has(code)) return `${failed} certificate signed by unknown authority`
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined
  const { host = '', cert } = cause as { readonly host?: string; readonly cert?: { readonly subjectaltname?: string } }
  const names = (cert?.subjectaltname ?? '').split(', ').map((each) => /^([^:]*):(.*)$/.exec(each) ?? [])
  const kind = isIP(host) === 0 ? 'DNS' : 'IP Address'
  const valid = names.flatMap(([, type, name = '']) => (type === kind ? [name] : []))
  return `${failed} certificate is valid for ${valid.join(', ')}, not ${host.replace(/\.$/, '')}`
}

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** What starts the cluster at an address, where that is one of this directory. */
async function startCommand(host: Host, { kubeconfig, server }: ConnectionFlags, address: string) {
  if (server !== undefined || !/^https:\/\/(127\.|localhost\b|\[::1\])/.test(address)) return undefined
  const place = placesHere(host).find(({ directory }) => readServerRecord(directory)?.url === address)
  if (place !== undefined) return `coracle up${placeFlagText(place)}`
  const { paths } = await kubeconfigFiles(host, kubeconfig)
  return paths.some(isLocalKubeconfig) ? 'coracle up' : undefined
}
