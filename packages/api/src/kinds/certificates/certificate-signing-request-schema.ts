import { kindSchema } from '../../meta.ts'
import {
  atomicList,
  bytes,
  int32,
  list,
  literal,
  mapList,
  mapOf,
  object,
  optional,
  pointer,
  required,
  string,
  time,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { certificatesV1 } from './names.ts'

export interface CertificateSigningRequestSpec extends Infer<typeof certificateSigningRequestSpec> {}
export const certificateSigningRequestSpec = object(
  `${certificatesV1}.CertificateSigningRequestSpec`,
  'What is to be signed, by whom, and who asks.',
  {
    request: required(bytes, 'The PKCS #10 certificate request, in PEM.', { absenceIsToldByRules: true }),
    signerName: required(string(), 'Who is to sign it, such as kubernetes.io/kube-apiserver-client.'),
    expirationSeconds: pointer(
      int32(),
      'For how long the certificate should be good: 600 at least. The signer may decide otherwise.',
    ),
    usages: optional(atomicList(string()), 'What the key is for, such as "client auth".'),
    username: optional(string(), 'Who asks. Given by the server.'),
    uid: optional(string(), 'UID of who asks. Given by the server.'),
    groups: optional(atomicList(string()), 'The groups of who asks. Given by the server.'),
    extra: optional(mapOf(list(string())), 'What else is known of who asks. Given by the server.'),
  },
)

export interface CertificateSigningRequestCondition extends Infer<typeof certificateSigningRequestCondition> {}
export const certificateSigningRequestCondition = object(
  `${certificatesV1}.CertificateSigningRequestCondition`,
  'What has been decided about a request.',
  {
    type: required(string(), 'Approved, Denied, Failed, or one of the signer.'),
    status: required(literal<'True' | 'False' | 'Unknown'>(), 'True, False or Unknown; True for the known types.'),
    reason: optional(string(), 'Why, in one word.'),
    message: optional(string(), 'Why, for people.'),
    lastUpdateTime: optional(time, 'When the condition was last written.', { byValue: true }),
    lastTransitionTime: optional(time, 'When its status last changed.', { byValue: true }),
  },
)

export interface CertificateSigningRequestStatus extends Infer<typeof certificateSigningRequestStatus> {}
export const certificateSigningRequestStatus = object(
  `${certificatesV1}.CertificateSigningRequestStatus`,
  'What has been decided, and the certificate.',
  {
    conditions: optional(
      mapList(certificateSigningRequestCondition, ['type'], { patchStrategy: undefined }),
      'What has been decided, by type.',
    ),
    certificate: optional(bytes, 'The certificate and those of its issuers, in PEM. Once set it cannot be changed.'),
  },
)

/** Asks a signer for a certificate. Somebody approves or denies it, and then the signer puts the certificate into its status. */
export interface CertificateSigningRequest extends Infer<typeof certificateSigningRequestSchema> {}
export const certificateSigningRequestSchema = kindSchema(
  `${certificatesV1}.CertificateSigningRequest`,
  'Asks a signer for a certificate. Somebody approves or denies it, and then the signer puts the certificate into its status.',
  {
    spec: required(certificateSigningRequestSpec, 'What is to be signed. It cannot be changed.', {
      default: { request: '', signerName: '' },
    }),
    status: optional(certificateSigningRequestStatus, 'What has become of it.', { default: {} }),
  },
)
