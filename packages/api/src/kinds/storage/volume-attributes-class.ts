import { deepEqual } from '../../equality.ts'
import { type FieldError, forbiddenField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { optional, required, string, stringMap } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { checkText } from '../core/pod/validation/checks.ts'
import { kind } from '../kind.ts'
import { storageV1 } from './names.ts'
import { validateParameters } from './parameters.ts'

/** Attributes of volumes that may be changed while they are in use, under a name that claims refer to. */
export interface VolumeAttributesClass extends Infer<typeof volumeAttributesClassSchema> {}
export const volumeAttributesClassSchema = kindSchema(
  `${storageV1}.VolumeAttributesClass`,
  'Attributes of volumes, such as their throughput, that a claim may change by naming another class.',
  {
    driverName: required(string(), 'The CSI driver that knows the attributes. It cannot be changed.'),
    parameters: optional(stringMap, 'The attributes. They cannot be changed: name another class.'),
  },
)

const driverPath = FieldPath.of('driverName')

function validate({ driverName, parameters }: VolumeAttributesClass): readonly FieldError[] {
  return [
    ...(driverName ? checkText('qualified-name', driverName.toLowerCase(), driverPath) : []),
    ...validateParameters(parameters, { areRequired: true }),
  ]
}

function validateUpdate(next: VolumeAttributesClass, old: VolumeAttributesClass): readonly FieldError[] {
  const errors: FieldError[] = []
  if (next.driverName !== old.driverName)
    errors.push(forbiddenField(driverPath, 'updates to driverName are forbidden.'))
  if (!deepEqual(next.parameters, old.parameters)) {
    errors.push(forbiddenField(FieldPath.of('parameters'), 'updates to parameters are forbidden.'))
  }
  return errors
}

const defaultClassAnnotation = 'volumeattributesclass.alpha.kubernetes.io/is-default-class'

const nameWithMark = ({ metadata }: VolumeAttributesClass): string =>
  `${metadata.name ?? ''}${metadata.annotations?.[defaultClassAnnotation] === 'true' ? ' (default)' : ''}`

/** `storage.k8s.io/v1` volumeattributesclasses. */
export const volumeAttributesClasses = kind<VolumeAttributesClass>(volumeAttributesClassSchema, {
  plural: 'volumeattributesclasses',
  shortNames: ['vac'],
  namespaced: false,
  columns: [
    { ...nameColumn, cell: nameWithMark },
    column('DriverName', ({ driverName }) => driverName, { field: 'driverName' }),
    ageColumn,
  ],
  rules: { returnsDeletedObject: true },
  validate,
  validateUpdate,
})
