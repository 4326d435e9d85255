import { deepEqual } from '../../equality.ts'
import { type FieldError, invalidField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { compareQuantity } from '../../quantity.ts'
import { optional, quantity, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { createdAtColumn, nameColumn } from '../columns.ts'
import { labelSelector } from '../core/common.ts'
import { nodeLabelWarnings, nodeTermWarnings } from '../core/node/deprecated-labels.ts'
import { checkLabelSelector } from '../core/pod/validation/checks.ts'
import { kind } from '../kind.ts'
import { shownSelector } from '../shown-values.ts'
import { checkUnchanged } from '../validation.ts'
import { storageV1 } from './names.ts'

/** How much room a storage class has in a place. */
export interface CsiStorageCapacity extends Infer<typeof csiStorageCapacitySchema> {}
export const csiStorageCapacitySchema = kindSchema(
  `${storageV1}.CSIStorageCapacity`,
  'How much room there is for volumes of a storage class on the nodes of one place, as its driver says.',
  {
    nodeTopology: optional(labelSelector, 'The nodes that this is about; none unless set. It cannot be changed.'),
    storageClassName: required(string(), 'The storage class that this is about. It cannot be changed.', {
      default: '',
    }),
    capacity: optional(quantity, 'How much room there is; unknown unless set.'),
    maximumVolumeSize: optional(quantity, 'How large a single volume may be; not known unless set.'),
  },
)

const topologyPath = FieldPath.of('nodeTopology')

function validate(object: CsiStorageCapacity): readonly FieldError[] {
  const { storageClassName, nodeTopology, capacity } = object
  return [
    ...checkLabelSelector(nodeTopology, topologyPath),
    ...checkFormat('dns1123-subdomain', storageClassName).map((why) =>
      invalidField(FieldPath.of('storageClassName'), storageClassName, why),
    ),
    // Upstream takes any maximumVolumeSize.
    ...(capacity === undefined || compareQuantity(capacity, '0') >= 0
      ? []
      : [invalidField(FieldPath.of('capacity'), capacity, 'must be greater than or equal to 0')]),
  ]
}

/** `storage.k8s.io/v1` csistoragecapacities. */
export const csiStorageCapacities = kind<CsiStorageCapacity>(csiStorageCapacitySchema, {
  plural: 'csistoragecapacities',
  // Upstream has columns of its own for it, and does not use them.
  columns: [nameColumn, createdAtColumn],
  rules: { updatesUnconditionally: false },
  validate,
  validateUpdate: (next, old) => [
    ...(deepEqual(next.nodeTopology, old.nodeTopology)
      ? []
      : [invalidField(topologyPath, shownSelector(next.nodeTopology), 'field is immutable')]),
    ...checkUnchanged(next.storageClassName, old.storageClassName, FieldPath.of('storageClassName')),
  ],
  warnings: ({ nodeTopology = {} }) => [
    ...nodeTermWarnings(nodeTopology, topologyPath, { checksValues: false }),
    ...nodeLabelWarnings(Object.keys(nodeTopology.matchLabels ?? {}), (key) =>
      topologyPath.field('matchLabels').field(key),
    ),
  ],
})
