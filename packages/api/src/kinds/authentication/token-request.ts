import { kindSchema } from '../../meta.ts'
import { atomicList, int64, object, optional, required, string, time } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { authenticationV1 } from '../meta/names.ts'

/** Seconds a token lives unless something else is asked for. */
export const tokenRequestSecondsDefault = 3600

const boundObjectReference = object(`${authenticationV1}.BoundObjectReference`, 'An object that a token ends with.', {
  apiVersion: optional(string(), 'Version of the object.'),
  kind: optional(string(), 'Kind of the object: Pod, Node or Secret.'),
  name: optional(string(), 'Name of the object.'),
  uid: optional(string(), 'UID of the object, where it must be this very one.'),
})

const spec = object(`${authenticationV1}.TokenRequestSpec`, 'What token is asked for.', {
  audiences: required(
    atomicList(string()),
    'Whom the token is for: who is shown it must find themselves among them. Without any it is for the API server.',
  ),
  expirationSeconds: optional(int64(), 'How long the token is to live; the server may give another time.', {
    default: tokenRequestSecondsDefault,
    pointer: true,
  }),
  boundObjectRef: optional(boundObjectReference, 'What the token ends with, beside its service account.', {
    alwaysWritten: true,
  }),
})

const status = object(`${authenticationV1}.TokenRequestStatus`, 'The answer of the server.', {
  token: required(string(), 'The bearer token.', { default: '' }),
  expirationTimestamp: required(time, 'When the token ends.'),
})

/** Asks for a token of a service account; what `serviceaccounts/token` takes. Never stored. */
export interface TokenRequest extends Infer<typeof tokenRequestSchema> {}
export const tokenRequestSchema = kindSchema(
  `${authenticationV1}.TokenRequest`,
  'Asks for a token of a service account. Never stored.',
  { spec: required(spec, 'What is asked for.'), status: optional(status, 'Filled in by the server.') },
)
