import { atomicList, object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { labelSelectorRequirement } from '../meta/label-selector.ts'
import { authorizationV1, metaV1 } from '../meta/names.ts'

const fieldSelectorRequirement = object(`${metaV1}.FieldSelectorRequirement`, 'One condition of a field selector.', {
  key: required(string(), 'The field it is about.', { default: '' }),
  operator: required(string(), 'In, NotIn, Exists or DoesNotExist; there may be more.', { default: '' }),
  values: optional(atomicList(string()), 'What In and NotIn compare with.'),
})

const fieldSelector = object(`${authorizationV1}.FieldSelectorAttributes`, 'The field selector of a request.', {
  rawSelector: optional(string(), 'The selector as a query has it. Servers ignore what they cannot read.'),
  requirements: optional(atomicList(fieldSelectorRequirement), 'The conditions of the selector, read.'),
})

const labelSelector = object(`${authorizationV1}.LabelSelectorAttributes`, 'The label selector of a request.', {
  rawSelector: optional(string(), 'The selector as a query has it. Servers ignore what they cannot read.'),
  requirements: optional(atomicList(labelSelectorRequirement), 'The conditions of the selector, read.'),
})

/** A request for an object or a collection of the API. */
export interface ResourceAttributes extends Infer<typeof resourceAttributes> {}
export const resourceAttributes = object(
  `${authorizationV1}.ResourceAttributes`,
  'What a request for an object or a collection of the API is about.',
  {
    fieldSelector: optional(fieldSelector, 'Limits the request to objects with such fields.'),
    group: optional(string(), 'The API group; `*` is all.'),
    labelSelector: optional(labelSelector, 'Limits the request to objects with such labels.'),
    name: optional(string(), 'The name of the object; empty is all.'),
    namespace: optional(string(), 'The namespace; empty is all, or none for what is in no namespace.'),
    resource: optional(string(), 'The resource; `*` is all.'),
    subresource: optional(string(), 'The subresource; empty is none.'),
    verb: optional(string(), 'get, list, watch, create, update, patch, delete, deletecollection, proxy; `*` is all.'),
    version: optional(string(), 'The version of the API; `*` is all.'),
  },
)

/** A request for a path that is no resource. */
export interface NonResourceAttributes extends Infer<typeof nonResourceAttributes> {}
export const nonResourceAttributes = object(
  `${authorizationV1}.NonResourceAttributes`,
  'What a request for a path that is no resource is about.',
  { path: optional(string(), 'The path.'), verb: optional(string(), 'The HTTP method in lower case.') },
)
