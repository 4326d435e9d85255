import { atomicList, boolean, bytes, type Infer, object, optional, statusSchema, string, stringMap } from '@coracle/api'

const admissionResponseSchema = object(
  'io.k8s.api.admission.v1.AdmissionResponse',
  'What a webhook says of a request.',
  {
    uid: optional(string(), 'The request that it is about.'),
    allowed: optional(boolean, 'Whether the request may go on.'),
    status: optional(statusSchema, 'Why the request is refused.'),
    patch: optional(bytes, 'What is to change, as operations of a JSON patch.'),
    patchType: optional(string(), 'What the patch is: JSONPatch.'),
    auditAnnotations: optional(stringMap, 'What is written into the audit log.'),
    warnings: optional(atomicList(string()), 'What whoever asked is told.'),
  },
)

export type AdmissionResponse = Infer<typeof admissionResponseSchema>

/** AdmissionReview as webhooks answer with it. What they were asked stands in it as well, and is not looked at. */
export const admissionReviewSchema = object('io.k8s.api.admission.v1.AdmissionReview', 'What a webhook answers.', {
  apiVersion: optional(string(), 'Version of the schema it is written in.'),
  kind: optional(string(), 'AdmissionReview.'),
  response: optional(admissionResponseSchema, 'What it says of the request.'),
})
