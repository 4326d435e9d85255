import { whileDoing } from '../../describe-error.ts'
import type { Host } from '../../host.ts'
import { withLastApplied } from '../../manifests/apply-object.ts'
import { fieldValidation, forEachManifest, type ManifestCommandFlags } from '../manifest-command.ts'

/** Who creates, for field ownership. */
export const createFieldManager = 'coracle-create'

export interface CreateFlags extends ManifestCommandFlags {
  /** Notes what was created in the object, so that `apply` can go on from it. */
  readonly saveConfig?: boolean
}

/** `coracle create -f FILE` */
export async function create(host: Host, flags: CreateFlags): Promise<void> {
  await forEachManifest(host, flags, { asList: false }, async ({ client }, placed) => {
    const { resource, source } = placed
    const object = flags.saveConfig === true ? withLastApplied(placed.object) : placed.object
    if (flags.dryRun === 'client') return { verb: 'created', object }
    const creation = client.create(resource, object, {
      fieldManager: flags.fieldManager ?? createFieldManager,
      fieldValidation: fieldValidation[flags.validate],
      dryRun: flags.dryRun === 'server',
    })
    const created = await creation.catch((error: unknown) => {
      throw whileDoing(`error when creating "${source}"`, error)
    })
    return { verb: 'created', object: created }
  })
}
