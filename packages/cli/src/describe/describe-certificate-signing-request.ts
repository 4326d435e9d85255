import {
  type CertificateSigningRequest,
  type Event,
  formatLabels,
  parseCertificateRequest,
  requestedDuration,
  signingRequestState,
} from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'

/** A CertificateSigningRequest in detail (kubectl's describeCertificateSigningRequest). */
export function describeCertificateSigningRequest(
  request: CertificateSigningRequest,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, spec } = request
  const { subject, names } = parseCertificateRequest(Buffer.from(spec.request, 'base64').toString('latin1'))
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Labels', formatLabels(metadata.labels))
  text.field(0, 'Annotations', formatLabels(metadata.annotations))
  text.time(0, 'CreationTimestamp', metadata.creationTimestamp)
  text.field(0, 'Requesting User', spec.username ?? '')
  if (spec.signerName !== '') text.field(0, 'Signer', spec.signerName)
  const duration = requestedDuration(request)
  if (duration !== undefined) text.field(0, 'Requested Duration', duration)
  text.field(0, 'Status', signingRequestState(request))
  text.heading(0, 'Subject')
  text.line(0, `\tCommon Name:\t${subject.commonName}`).line(0, `\tSerial Number:\t${subject.serialNumber}`)
  for (const [label, values] of [
    ['Organization', subject.organization],
    ['Organizational Unit', subject.organizationalUnit],
    ['Country', subject.country],
    ['Locality', subject.locality],
    ['Province', subject.province],
    ['StreetAddress', subject.streetAddress],
    ['PostalCode', subject.postalCode],
  ] as const) {
    addList(text, label, values)
  }
  const alternatives = [
    ['DNS Names', names.dnsNames],
    ['Email Addresses', names.emailAddresses],
    ['URIs', names.uris],
    ['IP Addresses', names.ipAddresses],
  ] as const
  if (alternatives.some(([, values]) => values.length > 0)) text.heading(0, 'Subject Alternative Names')
  for (const [label, values] of alternatives) addList(text, label, values)
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** The values below each other, in cells of their own; nothing where there are none. */
function addList(text: Description, label: string, [first, ...others]: readonly string[]): void {
  if (first === undefined) return
  text.line(0, `\t${label}:\t${first}`)
  for (const other of others) text.line(0, `\t\t${other}`)
}
