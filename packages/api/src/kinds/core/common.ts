/** Definitions that several core kinds share: references, node selectors and amounts of resources. */
import { formatQuantity, isQuantity, parseQuantity, quantityMilli } from '../../quantity.ts'
import { atomicList, mapOf, object, optional, pointer, quantity, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { coreV1 } from '../meta/names.ts'

export {
  type LabelSelector,
  type LabelSelectorRequirement,
  labelSelector,
  labelSelectorRequirement,
} from '../meta/label-selector.ts'

export interface LocalObjectReference extends Infer<typeof localObjectReference> {}
export const localObjectReference = object(
  `${coreV1}.LocalObjectReference`,
  'Names an object in the same namespace.',
  { name: optional(string(), 'Name of the object.') },
  { mapType: 'atomic' },
)

export interface ObjectReference extends Infer<typeof objectReference> {}
export const objectReference = object(
  `${coreV1}.ObjectReference`,
  'Points at another object, or at a part of it.',
  {
    kind: optional(string(), 'Kind of the object.'),
    namespace: optional(string(), 'Namespace of the object; empty for cluster-scoped kinds.'),
    name: optional(string(), 'Name of the object.'),
    uid: optional(string(), 'UID of the object, where one particular incarnation is meant.'),
    apiVersion: optional(string(), 'API version of the object.'),
    resourceVersion: optional(string(), 'Version of the object at the time of the reference, where it matters.'),
    fieldPath: optional(
      string(),
      'The part that is meant, as a path: spec.containers{web} is the container web of a pod.',
    ),
  },
  { mapType: 'atomic' },
)

export interface TypedLocalObjectReference extends Infer<typeof typedLocalObjectReference> {}
export const typedLocalObjectReference = object(
  `${coreV1}.TypedLocalObjectReference`,
  'Names an object of any kind in the same namespace.',
  {
    apiGroup: pointer(string(), 'API group of the kind; absent for the core group.', { alwaysWritten: true }),
    kind: required(string(), 'Kind of the object.'),
    name: required(string(), 'Name of the object.'),
  },
  { mapType: 'atomic' },
)

export interface TypedObjectReference extends Infer<typeof typedObjectReference> {}
export const typedObjectReference = object(
  `${coreV1}.TypedObjectReference`,
  'Names an object of any kind, possibly in another namespace.',
  {
    apiGroup: pointer(string(), 'API group of the kind; absent for the core group.', { alwaysWritten: true }),
    kind: required(string(), 'Kind of the object.'),
    name: required(string(), 'Name of the object.'),
    namespace: pointer(string(), "Namespace of the object. Another one than the referrer's must grant the reference."),
  },
)

export interface SecretReference extends Infer<typeof secretReference> {}
export const secretReference = object(
  `${coreV1}.SecretReference`,
  'Names a Secret, possibly in another namespace.',
  {
    name: optional(string(), 'Name of the Secret.'),
    namespace: optional(string(), 'Namespace of the Secret.'),
  },
  { mapType: 'atomic' },
)

export interface NodeSelectorRequirement extends Infer<typeof nodeSelectorRequirement> {}
export const nodeSelectorRequirement = object(
  `${coreV1}.NodeSelectorRequirement`,
  'One condition on the labels or fields of a node.',
  {
    key: required(string(), 'Label key, or field name, that the condition looks at.', { default: '' }),
    operator: required(string(), 'How it is compared: In, NotIn, Exists, DoesNotExist, Gt or Lt.', { default: '' }),
    values: optional(
      atomicList(string()),
      'Values to compare with: some for In and NotIn, none for Exists and DoesNotExist, one integer for Gt and Lt.',
    ),
  },
)

export interface NodeSelectorTerm extends Infer<typeof nodeSelectorTerm> {}
export const nodeSelectorTerm = object(
  `${coreV1}.NodeSelectorTerm`,
  'Conditions on a node, all of which must hold. With none it picks no node.',
  {
    matchExpressions: optional(atomicList(nodeSelectorRequirement), 'Conditions on the labels of the node.'),
    matchFields: optional(
      atomicList(nodeSelectorRequirement),
      'Conditions on fields of the node, such as metadata.name.',
    ),
  },
  { mapType: 'atomic' },
)

export interface NodeSelector extends Infer<typeof nodeSelector> {}
export const nodeSelector = object(
  `${coreV1}.NodeSelector`,
  'Picks nodes: those that satisfy at least one of its terms.',
  {
    nodeSelectorTerms: required(atomicList(nodeSelectorTerm), 'Alternatives, of which one must hold.', { default: [] }),
  },
  { mapType: 'atomic' },
)

/** Amounts by resource name, such as `cpu: 500m`. */
export type ResourceList = Infer<typeof resourceList>
export const resourceList = mapOf(quantity)

/** Amounts finer than a thousandth, as upstream's SetDefaults_ResourceList has them: rounded up. */
export function wholeMillis(list: ResourceList | undefined): ResourceList | undefined {
  if (list === undefined || !Object.values(list).some(isFine)) return list
  return Object.fromEntries(
    Object.entries(list).map(([name, amount]) => [name, isFine(amount) ? roundUpToMillis(amount) : amount]),
  )
}

/** Canonical amounts show by their end that they are finer than a thousandth. */
const isFine = (amount: string): boolean => /(?:[nu]|e-[69])$/.test(amount) && isQuantity(amount)

function roundUpToMillis(amount: string): string {
  const { format } = parseQuantity(amount)
  return formatQuantity({ nanos: BigInt(quantityMilli(amount)) * 1_000_000n, format })
}
