import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { applyObject, lastAppliedAnnotation } from '../manifests/apply-object.ts'
import { applyOnServer } from '../manifests/server-side-apply.ts'
import { kindText, objectText } from '../resources/object-text.ts'
import { fieldValidation, forEachManifest, type ManifestCommandFlags } from './manifest-command.ts'

export interface ApplyFlags extends ManifestCommandFlags {
  readonly serverSide?: boolean
  readonly forceConflicts?: boolean
  readonly fieldManager: string
}

/** `coracle apply -f FILE` */
export async function apply(host: Host, flags: ApplyFlags): Promise<void> {
  if (flags.forceConflicts === true && flags.serverSide !== true) {
    throw new CliError('--force-conflicts only works with --server-side')
  }
  if (flags.serverSide === true && flags.dryRun === 'client') {
    throw new CliError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)")
  }
  await forEachManifest(host, flags, { asList: true }, async ({ client }, { resource, object, source }) => {
    const { name = '', generateName } = object.metadata
    if (name === '') {
      throw new CliError(
        generateName === undefined
          ? `the ${kindText(resource)} has no metadata.name`
          : `cannot use generate name with apply: ${generateName}`,
      )
    }
    if (flags.serverSide === true) {
      const options = {
        fieldManager: flags.fieldManager,
        force: flags.forceConflicts === true,
        fieldValidation: fieldValidation[flags.validate],
        dryRun: flags.dryRun === 'server',
      }
      return { verb: 'serverside-applied', object: await applyOnServer(client, resource, object, options) }
    }
    const applied = await applyObject(client, resource, object, {
      fieldValidation: fieldValidation[flags.validate],
      dryRun: flags.dryRun === 'server',
      local: flags.dryRun === 'client',
      source,
    })
    if (applied.lacksLastApplied) {
      host.stderr.write(
        `Warning: resource ${objectText({ ...resource, kind: resource.plural }, name)} is missing the ${lastAppliedAnnotation} annotation which is required by coracle apply. coracle apply should only be used on resources created declaratively by coracle apply. The missing annotation will be patched automatically.\n`,
      )
    }
    return { verb: applied.outcome, object: applied.object }
  })
}
