import type { KubernetesObject } from '@coracle/api'
import { withLastApplied, withoutVersion } from '../../manifests/apply-object.ts'
import { fieldManagerOf } from '../../manifests/field-managers.ts'
import type { Session } from '../../session.ts'
import { type RecordFlags, withChangeCause } from '../change-cause.ts'
import { fieldValidation, type ManifestCommandFlags, type Placed } from '../manifest-command.ts'

/** Who creates, for field ownership. */
export const createFieldManager = fieldManagerOf('create')

export interface CreateFlags extends ManifestCommandFlags, RecordFlags {
  /** Notes what was created in the object, so that `apply` can go on from it. */
  readonly saveConfig?: boolean
  /** A path of the server to post the file to as it is. */
  readonly raw?: string
  /** Opens each object in an editor before it is created. */
  readonly edit?: boolean
  readonly windowsLineEndings?: boolean
}

/**
 * Creates an object as the flags say, whatever version the file says it had; with `--dry-run=client` it is only made, and the version
 * stays.
 */
export async function createObject(
  { client }: Session,
  { resource, object: wanted }: Pick<Placed, 'resource' | 'object'>,
  flags: CreateFlags,
): Promise<KubernetesObject> {
  const { saveConfig, dryRun, fieldManager = createFieldManager, validate } = flags
  const recorded = withChangeCause(wanted, flags)
  const object = saveConfig === true ? withLastApplied(recorded) : recorded
  if (dryRun === 'client') return object
  return client.create(resource, withoutVersion(object), {
    fieldManager,
    fieldValidation: fieldValidation[validate],
    dryRun: dryRun === 'server',
  })
}
