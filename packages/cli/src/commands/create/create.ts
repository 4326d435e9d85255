import type { KubernetesObject } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import { whileDoing } from '../../describe-error.ts'
import type { Host } from '../../host.ts'
import { withLastApplied } from '../../manifests/apply-object.ts'
import type { Session } from '../../session.ts'
import { fieldValidation, forEachManifest, type ManifestCommandFlags, type Placed } from '../manifest-command.ts'
import { rawRequest } from '../raw-request.ts'

/** Who creates, for field ownership. */
export const createFieldManager = 'coracle-create'

export interface CreateFlags extends ManifestCommandFlags {
  /** Notes what was created in the object, so that `apply` can go on from it. */
  readonly saveConfig?: boolean
  /** A path of the server to post the file to as it is. */
  readonly raw?: string
  /** Opens each object in an editor before it is created. */
  readonly edit?: boolean
  readonly windowsLineEndings?: boolean
}

/** `coracle create -f FILE` */
export async function create(host: Host, flags: CreateFlags): Promise<void> {
  if (flags.filename.length === 0) throw new CliError('must specify one of -f and -k')
  if (flags.raw !== undefined) {
    if (flags.edit === true) throw new CliError('--raw and --edit are mutually exclusive')
    if (flags.selector !== undefined) throw new CliError('--raw and --selector (-l) are mutually exclusive')
    return rawRequest(host, 'POST', flags.raw, flags)
  }
  if (flags.edit === true) {
    const { createEdited } = await import('./create-edited.ts')
    return createEdited(host, flags)
  }
  await forEachManifest(host, flags, { asList: false }, async (session, placed) => {
    const object = await createObject(session, placed, flags).catch((error: unknown) => {
      throw whileDoing(`error when creating "${placed.source}"`, error)
    })
    return { verb: 'created', object }
  })
}

/** Creates an object as the flags say; with `--dry-run=client` it is only made. */
export async function createObject(
  { client }: Session,
  { resource, object: wanted }: Pick<Placed, 'resource' | 'object'>,
  { saveConfig, dryRun, fieldManager = createFieldManager, validate }: CreateFlags,
): Promise<KubernetesObject> {
  const object = saveConfig === true ? withLastApplied(wanted) : wanted
  if (dryRun === 'client') return object
  return client.create(resource, object, {
    fieldManager,
    fieldValidation: fieldValidation[validate],
    dryRun: dryRun === 'server',
  })
}
