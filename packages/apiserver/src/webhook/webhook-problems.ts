import { isIP } from 'node:net'

/** What goes wrong in asking a webhook, in the words of Go's client: people search for those. */

/** The webhook could not be reached, or broke off. `host` is that of its address. */
export function transportProblem(error: unknown, host: string): string {
  const {
    code = '',
    message,
    address,
    port,
  } = error as NodeJS.ErrnoException & {
    readonly address?: string
    readonly port?: number
  }
  if (unknownAuthority.has(code)) return 'x509: certificate signed by unknown authority'
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}:${port}: connect: connection refused`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${host}: no such host`
    case 'ECONNRESET':
      return 'EOF'
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return wrongName((error as CertificateError).cert?.subjectaltname ?? '', (error as CertificateError).host ?? host)
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'x509: certificate has expired or is not yet valid'
    default:
      return message
  }
}

interface CertificateError extends Error {
  readonly cert?: { readonly subjectaltname?: string }
  readonly host?: string
}

/** Names what a certificate is for of the sort that was asked for: addresses, or names. */
function wrongName(alternatives: string, host: string): string {
  const sort = isIP(host) === 0 ? 'DNS:' : 'IP Address:'
  const names = alternatives.split(', ').filter((each) => each.startsWith(sort))
  const shown = names.map((each) => each.slice(sort.length)).join(', ')
  return shown === ''
    ? `x509: certificate is not valid for any names, but wanted to match ${host}`
    : `x509: certificate is valid for ${shown}, not ${host}`
}

const unknownAuthority: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Of an answer that is shown in a message. */
const shownAnswerMax = 2048

const byCode: ReadonlyMap<number, string> = new Map([
  [400, 'the server rejected our request for an unknown reason'],
  [401, 'the server has asked for the client to provide credentials'],
  [404, 'the server could not find the requested resource'],
  [405, 'the server does not allow this method on the requested resource'],
  [409, 'the server reported a conflict'],
  [422, 'the server rejected our request due to an error in our request'],
  [429, 'the server has received too many requests and has asked us to try again later'],
  [503, 'the server is currently unable to handle the request'],
  [504, 'the server was unable to return a response in the time allotted, but may still be processing the request'],
])

/** The webhook answered with a code that is no success, and `text`. */
export function answerProblem(code: number, text: string): string {
  const known = byCode.get(code)
  if (known !== undefined) return known
  if (code < 500) return `the server responded with the status code ${code} but did not return more information`
  const shown = text.trim().slice(0, shownAnswerMax) || 'unknown'
  return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`
}

/** Why a webhook behind a service could not be asked, in the words of upstream's service resolver. */
export function unresolvedProblem(reason: string, service: string, port: number): string {
  const name = JSON.stringify(service)
  switch (reason) {
    case 'ServiceNotFound':
      return `service ${name} not found`
    case 'ServicePortError':
      return `no service port ${port} found for service ${name}`
    default:
      return `no endpoints available for service ${name}`
  }
}
