import { kindSchema } from '../../meta.ts'
import {
  atomicList,
  boolean,
  bytes,
  int32,
  int64,
  mapList,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { conditionOf } from '../meta/condition.ts'
import { apiextensionsV1 } from '../meta/names.ts'
import { jsonSchemaProps } from './json-schema-props-schema.ts'

export interface CustomResourceNames extends Infer<typeof customResourceNames> {}
export const customResourceNames = object(
  `${apiextensionsV1}.CustomResourceDefinitionNames`,
  'What the kind and its objects are called.',
  {
    plural: required(string(), 'The name in paths: /apis/<group>/<version>/.../<plural>. It cannot be changed.', {
      default: '',
    }),
    singular: optional(string(), 'The name of one, in lower case; that of the kind unless said otherwise.'),
    shortNames: optional(atomicList(string()), 'Shorter names for the command line.'),
    kind: required(string(), 'The kind, in CamelCase.', { default: '' }),
    listKind: optional(string(), 'The kind of lists: <kind>List unless said otherwise.'),
    categories: optional(atomicList(string()), 'Groups of kinds that can be asked for together, such as all.'),
  },
)

/** The names of a definition that has got none yet. */
export const noNames: CustomResourceNames = { plural: '', kind: '' }

const validation = object(`${apiextensionsV1}.CustomResourceValidation`, 'How objects of a version are checked.', {
  openAPIV3Schema: optional(jsonSchemaProps, 'The schema that objects have.'),
})

export interface CustomResourceScale extends Infer<typeof scale> {}
const scale = object(`${apiextensionsV1}.CustomResourceSubresourceScale`, 'Where the scale subresource finds counts.', {
  specReplicasPath: required(string(), 'The path of the wanted count, below .spec.', { default: '' }),
  statusReplicasPath: required(string(), 'The path of the present count, below .status.', { default: '' }),
  labelSelectorPath: pointer(string(), 'The path of the selector as text, below .spec or .status.'),
})

const status = object(`${apiextensionsV1}.CustomResourceSubresourceStatus`, 'Makes status a subresource.', {})

export interface CustomResourceSubresources extends Infer<typeof subresources> {}
const subresources = object(`${apiextensionsV1}.CustomResourceSubresources`, 'The subresources of a version.', {
  status: optional(status, 'Makes status a subresource: it and the rest are written separately.'),
  scale: optional(scale, 'Makes the objects scalable.'),
})

export interface CustomResourceColumn extends Infer<typeof columnDefinition> {}
const columnDefinition = object(`${apiextensionsV1}.CustomResourceColumnDefinition`, 'A column of tables.', {
  name: required(string(), 'What stands above it.', { default: '' }),
  type: required(string(), 'integer, number, string, boolean or date.', { default: '' }),
  format: optional(string(), 'How it is written; name marks the column that identifies the object.'),
  description: optional(string(), 'What it shows.'),
  priority: optional(int32(), '0 is always shown, anything higher in wide tables only.'),
  jsonPath: required(string(), 'Where in the object the value is.', { default: '' }),
})

const selectableField = object(`${apiextensionsV1}.SelectableField`, 'A field that selectors may name.', {
  jsonPath: required(string(), 'Where in the object it is: a simple path such as .spec.color.', { default: '' }),
})

export interface CustomResourceVersion extends Infer<typeof version> {}
const version = object(`${apiextensionsV1}.CustomResourceDefinitionVersion`, 'A version of the kind.', {
  name: required(string(), 'The version, such as v1beta1.', { default: '' }),
  served: required(boolean, 'Whether clients may use it.', { default: false }),
  storage: required(boolean, 'Whether objects are stored in it. Exactly one version is that.', { default: false }),
  deprecated: optional(boolean, 'Whether whoever uses it is warned.'),
  deprecationWarning: pointer(string(), 'What they are told.'),
  schema: optional(validation, 'How objects are checked and pruned.'),
  subresources: optional(subresources, 'Which subresources there are.'),
  additionalPrinterColumns: optional(atomicList(columnDefinition), 'Columns of tables beside the name.'),
  selectableFields: optional(atomicList(selectableField), 'The fields that field selectors may name.'),
})

const serviceReference = object(`${apiextensionsV1}.ServiceReference`, 'A service that is asked.', {
  namespace: required(string(), 'The namespace of the service.', { default: '' }),
  name: required(string(), 'The name of the service.', { default: '' }),
  path: pointer(string(), 'The path that is asked for.'),
  port: pointer(int32(), 'The port of the service; 443 unless said otherwise.'),
})

export interface ConversionClientConfig extends Infer<typeof webhookClientConfig> {}
const webhookClientConfig = object(`${apiextensionsV1}.WebhookClientConfig`, 'How a webhook is reached.', {
  url: pointer(string(), 'Where it is: https://host:port/path.'),
  service: optional(serviceReference, 'The service it is behind.'),
  caBundle: optional(bytes, 'The certificates (PEM) that its own is checked by.'),
})

const webhook = object(`${apiextensionsV1}.WebhookConversion`, 'A webhook that converts.', {
  clientConfig: optional(webhookClientConfig, 'How it is reached.'),
  conversionReviewVersions: required(atomicList(string()), 'Versions of ConversionReview that it understands.', {
    default: [],
  }),
})

export interface CustomResourceConversion extends Infer<typeof conversion> {}
const conversion = object(`${apiextensionsV1}.CustomResourceConversion`, 'How one version becomes another.', {
  strategy: required(string(), 'None: only apiVersion changes. Webhook: a webhook is asked.', { default: '' }),
  webhook: optional(webhook, 'The webhook that is asked.'),
})

export interface CustomResourceDefinitionSpec extends Infer<typeof spec> {}
const spec = object(`${apiextensionsV1}.CustomResourceDefinitionSpec`, 'Names, scope and versions of a custom kind.', {
  group: required(string(), 'The API group, such as example.com.', { default: '' }),
  names: required(customResourceNames, 'What the kind is called.', { byValue: true, default: noNames }),
  scope: required(string(), 'Cluster or Namespaced.', { default: '' }),
  versions: required(atomicList(version), 'The versions of the kind.', { default: [] }),
  conversion: optional(conversion, 'How versions become each other.'),
  preserveUnknownFields: optional(boolean, 'Must be false: schemas say which unknown fields are kept.'),
})

export interface CustomResourceDefinitionCondition extends Infer<typeof condition> {}
const condition = conditionOf(
  `${apiextensionsV1}.CustomResourceDefinitionCondition`,
  'One aspect of how the definition stands.',
  'NamesAccepted, Established, NonStructuralSchema, Terminating and the like.',
  { observedGeneration: optional(int64(), 'The generation that it is about.') },
)

export interface CustomResourceDefinitionStatus extends Infer<typeof definitionStatus> {}
const definitionStatus = object(
  `${apiextensionsV1}.CustomResourceDefinitionStatus`,
  'Whether a custom kind is served, and under which names.',
  {
    conditions: optional(
      mapList(condition, ['type'], { patchStrategy: undefined, duplicates: 'allowed' }),
      'Its aspects, by type.',
      {
        alwaysWritten: true,
      },
    ),
    acceptedNames: optional(customResourceNames, 'The names that are in use: they may differ from those wanted.', {
      byValue: true,
      default: noNames,
    }),
    storedVersions: optional(
      atomicList(string()),
      'Versions that objects were ever stored in. One may be taken off once no object is stored in it.',
      { alwaysWritten: true },
    ),
    observedGeneration: optional(int64(), 'The generation that the status is about.'),
  },
)

/** A kind of the cluster's users. */
export interface CustomResourceDefinition extends Infer<typeof customResourceDefinitionSchema> {}
export const customResourceDefinitionSchema = kindSchema(
  `${apiextensionsV1}.CustomResourceDefinition`,
  'A kind that the API serves beside those it knows by itself. Its name is <plural>.<group>.',
  {
    spec: required(spec, 'The kind that is wanted.', {
      byValue: true,
      default: { group: '', names: noNames, scope: '', versions: [] },
    }),
    status: optional(definitionStatus, 'How the definition stands.'),
  },
)
