import type { Host } from '../host.ts'
import { fieldValidation, forEachManifest, type ManifestCommandFlags } from './manifest-command.ts'

/** Who creates, for field ownership. */
const fieldManager = 'coracle-create'

/** `coracle create -f FILE` */
export async function create(host: Host, flags: ManifestCommandFlags): Promise<void> {
  await forEachManifest(host, flags, 'creating', async ({ client }, { resource, object }) => {
    if (flags.dryRun === 'client') return { verb: 'created', object }
    const created = await client.create(resource, object, {
      fieldManager,
      fieldValidation: fieldValidation[flags.validate],
      dryRun: flags.dryRun === 'server',
    })
    return { verb: 'created', object: created }
  })
}
