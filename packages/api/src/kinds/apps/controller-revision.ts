import { type FieldError, requiredField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { isJsonObject } from '../../json.ts'
import { kindSchema } from '../../meta.ts'
import { anyObject, exactInt64, optional, required } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { appsV1 } from '../meta/names.ts'
import { checkNonNegative, checkUnchanged } from '../validation.ts'

/** A former state of a DaemonSet or StatefulSet, to go back to. It is never changed. */
export interface ControllerRevision extends Infer<typeof controllerRevisionSchema> {}
export const controllerRevisionSchema = kindSchema(
  `${appsV1}.ControllerRevision`,
  'A former template of a DaemonSet or StatefulSet, kept by the controller to go back to.',
  {
    data: optional(
      anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension', 'Any object, kept as it is.'),
      'What the owner was, as a patch to it. It cannot be changed.',
    ),
    revision: required(exactInt64(), 'Which state it was: later ones have greater numbers.', { default: 0 }),
  },
)

const dataPath = FieldPath.of('data')

const validate = ({ revision }: ControllerRevision): readonly FieldError[] =>
  checkNonNegative(revision, FieldPath.of('revision'))

/** Without data there is nothing to go back to. An update may not change them anyway. */
function validateCreate({ data }: ControllerRevision): readonly FieldError[] {
  if (data === undefined) return [requiredField(dataPath, 'data is mandatory')]
  return isJsonObject(data) ? [] : [requiredField(dataPath, 'data must be a valid JSON object')]
}

/** `statefulset.apps/web`, or nobody. */
function controllerText({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner === undefined) return '<none>'
  const [version = '', group] = owner.apiVersion.split('/').reverse()
  const kindText = owner.kind.toLowerCase()
  return `${version !== '' && group !== undefined ? `${kindText}.${group}` : kindText}/${owner.name}`
}

/** `apps/v1` controllerrevisions. */
export const controllerRevisions = kind<ControllerRevision>(controllerRevisionSchema, {
  plural: 'controllerrevisions',
  columns: [
    nameColumn,
    column('Controller', controllerText, 'Whose state it was.'),
    column('Revision', ({ revision }) => revision, 'Which state it was: later ones have greater numbers.'),
    ageColumn,
  ],
  validate,
  validateCreate,
  validateUpdate: ({ data }, old) => checkUnchanged(data, old.data, dataPath),
})
