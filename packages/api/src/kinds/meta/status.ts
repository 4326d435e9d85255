import { listMeta } from '../../meta.ts'
import { atomicList, int32, object, optional, string } from '../../schema/builders.ts'
import { metaV1 } from './names.ts'

export const statusCauseSchema = object(`${metaV1}.StatusCause`, 'One of the things that are wrong.', {
  reason: optional(string(), 'What kind of fault it is, such as FieldValueRequired.'),
  message: optional(string(), 'What is wrong, for people.'),
  field: optional(string(), 'The field at fault, as a path: items[0].name.'),
})

export const statusDetailsSchema = object(`${metaV1}.StatusDetails`, 'What the outcome of a request is about.', {
  name: optional(string(), 'Name of the object.'),
  group: optional(string(), 'API group of the resource.'),
  kind: optional(string(), 'Kind or resource.'),
  uid: optional(string(), 'UID of the object.'),
  causes: optional(atomicList(statusCauseSchema), 'What is wrong, one by one.'),
  retryAfterSeconds: optional(int32(), 'Seconds after which it is worth another try.'),
})

/** The schema of `Status` in `../../status.ts`, for OpenAPI documents. */
export const statusSchema = object(`${metaV1}.Status`, 'The outcome of a request that returns no object.', {
  apiVersion: optional(string(), 'Version of the schema it is written in.'),
  kind: optional(string(), 'Status.'),
  metadata: optional(listMeta, 'What every list carries.'),
  status: optional(string(), 'Success or Failure.'),
  message: optional(string(), 'What happened, for people.'),
  reason: optional(string(), 'Why it failed, in one CamelCase word, such as NotFound.'),
  details: optional(statusDetailsSchema, 'What it is about.'),
  code: optional(int32(), 'The HTTP status code.'),
})
