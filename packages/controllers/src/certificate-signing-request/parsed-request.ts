import { type CertificateRequest, type CertificateSigningRequest, parseCertificateRequest } from '@coracle/api'

/** The certificate request that a CertificateSigningRequest carries. The server has checked that it is one. */
export const parsedRequest = ({ spec }: CertificateSigningRequest): CertificateRequest =>
  parseCertificateRequest(Buffer.from(spec.request, 'base64').toString('latin1'))
