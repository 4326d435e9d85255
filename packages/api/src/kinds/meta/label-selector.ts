import { atomicList, object, optional, required, string, stringMap } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { metaV1 } from './names.ts'

export interface LabelSelectorRequirement extends Infer<typeof labelSelectorRequirement> {}
export const labelSelectorRequirement = object(
  `${metaV1}.LabelSelectorRequirement`,
  'One condition on the labels of an object.',
  {
    key: required(string(), 'Label key that the condition looks at.', { default: '' }),
    operator: required(string(), 'How the label is compared: In, NotIn, Exists or DoesNotExist.', { default: '' }),
    values: optional(
      atomicList(string()),
      'Values to compare with: some for In and NotIn, none for Exists and DoesNotExist.',
    ),
  },
)

/** Picks objects by their labels. An empty one picks everything, an absent one nothing. */
export interface LabelSelector extends Infer<typeof labelSelector> {}
export const labelSelector = object(
  `${metaV1}.LabelSelector`,
  'Picks objects by their labels. All conditions must hold; with none it picks everything.',
  {
    matchLabels: optional(stringMap, 'Labels the object must have with exactly these values.'),
    matchExpressions: optional(
      atomicList(labelSelectorRequirement),
      'Further conditions on labels, all of which must hold.',
    ),
  },
  { mapType: 'atomic' },
)
