import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { applyObject, lastAppliedAnnotation } from '../manifests/apply-object.ts'
import { kindText, objectText } from '../resources/object-text.ts'
import { fieldValidation, forEachManifest, type ManifestCommandFlags } from './manifest-command.ts'

/** `coracle apply -f FILE` */
export async function apply(host: Host, flags: ManifestCommandFlags): Promise<void> {
  await forEachManifest(host, flags, { asList: true }, async ({ client }, { resource, object, source }) => {
    const { name = '', generateName } = object.metadata
    if (name === '') {
      throw new CliError(
        generateName === undefined
          ? `the ${kindText(resource)} has no metadata.name`
          : `cannot use generate name with apply: ${generateName}`,
      )
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
