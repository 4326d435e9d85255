import { deepEqual } from '../../equality.ts'
import { duplicateField, type FieldError, invalidField, requiredField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { repeatedAt } from '../../finder.ts'
import { structValue } from '../../internal-structs/struct-value.ts'
import { kindSchema } from '../../meta.ts'
import { atomicList, int32, object, optional, pointer, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { keyedList } from '../core/pod/lists.ts'
import { validateDriverName } from '../core/pod/validation/volumes.ts'
import { kind } from '../kind.ts'
import { checkNonNegative } from '../validation.ts'
import { storageV1 } from './names.ts'

export interface VolumeNodeResources extends Infer<typeof volumeNodeResources> {}
export const volumeNodeResources = object(`${storageV1}.VolumeNodeResources`, 'How many volumes fit on a node.', {
  count: pointer(int32(), 'How many volumes of the driver can be used on the node at a time; any number unless set.'),
})

export interface CsiNodeDriver extends Infer<typeof csiNodeDriver> {}
export const csiNodeDriver = object(`${storageV1}.CSINodeDriver`, 'A CSI driver on a node.', {
  name: required(string(), 'Name of the driver.'),
  nodeID: required(string(), 'What the driver calls the node.'),
  topologyKeys: optional(atomicList(string()), 'Labels of the node that say where volumes of the driver can be used.', {
    alwaysWritten: true,
  }),
  allocatable: optional(volumeNodeResources, 'How many of its volumes fit on the node.'),
})

export interface CsiNodeSpec extends Infer<typeof csiNodeSpec> {}
export const csiNodeSpec = object(`${storageV1}.CSINodeSpec`, 'The CSI drivers of a node.', {
  drivers: required(keyedList(csiNodeDriver, ['name']), 'The drivers, each once.', { default: [] }),
})

/** The CSI drivers that a node has. Its name is the node's. */
export interface CsiNode extends Infer<typeof csiNodeSchema> {}
export const csiNodeSchema = kindSchema(
  `${storageV1}.CSINode`,
  'The CSI drivers that a node has, as its agent says. The name is the node’s.',
  { spec: required(csiNodeSpec, 'The drivers.', { default: { drivers: [] } }) },
)

const nodeIdLengthMax = 256
const driversPath = FieldPath.of('spec', 'drivers')

function validate({ spec }: CsiNode): readonly FieldError[] {
  const repeated = repeatedAt(spec.drivers, ({ name = '' }) => name)
  return spec.drivers.flatMap((driver, index) => {
    const at = driversPath.index(index)
    return [
      ...validateDriverName(driver.name ?? '', at.field('name')),
      ...(Buffer.byteLength(driver.nodeID ?? '') > nodeIdLengthMax
        ? [invalidField(at.field('nodeID'), driver.nodeID, `must be ${nodeIdLengthMax} characters or less`)]
        : []),
      ...checkNonNegative(driver.allocatable?.count, at.field('allocatable').field('count')),
      ...(repeated.has(index) ? [duplicateField(at.field('name'), driver.name ?? '')] : []),
      ...validateTopologyKeys(driver.topologyKeys ?? [], at),
    ]
  })
}

/** Upstream names the driver, not the key. */
function validateTopologyKeys(keys: readonly string[], path: FieldPath): readonly FieldError[] {
  const repeated = repeatedAt(keys)
  return keys.flatMap((key, index) => [
    ...(key === '' ? [requiredField(path)] : []),
    ...(repeated.has(index) ? [duplicateField(path, key)] : []),
    ...checkFormat('qualified-name', key).map((why) => invalidField(path, key, why)),
  ])
}

/** A driver may go and come back as another; while it is there, only how many volumes fit may change. */
function validateUpdate({ spec }: CsiNode, { spec: old }: CsiNode): readonly FieldError[] {
  const path = FieldPath.of('spec', 'drivers')
  const identity = ({ allocatable: _, ...rest }: CsiNodeDriver) => rest
  const oldByName = new Map(old.drivers.map((driver) => [driver.name, driver]))
  return spec.drivers.flatMap((driver) => {
    const before = oldByName.get(driver.name)
    const isChanged = before !== undefined && !deepEqual(identity(before), identity(driver))
    return isChanged
      ? [invalidField(path, structValue('storage.CSINodeDriver', identity(driver)), 'field is immutable')]
      : []
  })
}

/** `storage.k8s.io/v1` csinodes. */
export const csiNodes = kind<CsiNode>(csiNodeSchema, {
  plural: 'csinodes',
  namespaced: false,
  columns: [
    nameColumn,
    column('Drivers', ({ spec }) => spec.drivers.length, {
      type: 'integer',
      description: 'How many CSI drivers the node has.',
    }),
    ageColumn,
  ],
  rules: { updatesUnconditionally: false, returnsDeletedObject: true },
  validate,
  validateUpdate,
})
