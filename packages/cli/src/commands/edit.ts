import type { KubernetesObject } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { withLastApplied } from '../manifests/apply-object.ts'
import { fieldManagerOf } from '../manifests/field-managers.ts'
import { hasFiles } from '../manifests/load-manifests.ts'
import { patchBetween } from '../manifests/patch-between.ts'
import { lazyPrinter, type OutcomeFlags } from '../output/outcome-printer.ts'
import { type ConnectionFlags, withSession } from '../session.ts'
import { refusalOfTargets } from './connection-refusals.ts'
import { type EditorFlags, editObjects } from './edit-objects.ts'
import { fieldValidation } from './manifest-command.ts'
import { findTargets, refuseWithTargets, requireAll, type TargetFlags } from './targets.ts'

export interface EditFlags extends ConnectionFlags, TargetFlags, OutcomeFlags, EditorFlags {
  readonly subresource?: string
  readonly fieldManager?: string
  /** Prints the patch that is sent. */
  readonly outputPatch?: boolean
  /** Notes in the object what it was saved as, so that `apply` can go on from it. */
  readonly saveConfig?: boolean
}

/** `coracle edit TYPE NAME`: in the editor that KUBE_EDITOR or EDITOR names, or vi */
export async function edit(host: Host, args: readonly string[], flags: EditFlags): Promise<void> {
  const { subresource, ...whole } = flags
  const { fieldManager = fieldManagerOf('edit'), validate } = flags
  await withSession(
    host,
    flags,
    async (session) => {
      const refusal = flags.lateRefusals?.validate
      if (refusal !== undefined) await refuseWithTargets(host, session, args, flags, refusal)
      // A type alone means all its objects. As with kubectl, objects of files are shown as a whole.
      const found = requireAll(
        await findTargets(host, session, args, 'edit', { ...(hasFiles(flags) ? whole : flags), typesMeanAll: true }),
      )
      const printer = lazyPrinter(host, { ...flags, dryRun: 'none' })
      await editObjects(host, session, found, flags, {
        async save({ resource, key }, before, { object: after }) {
          requireSameObject(before, after)
          const patch = patchBetween(resource, before, flags.saveConfig === true ? withLastApplied(after) : after)
          if (flags.outputPatch === true) host.stdout.write(`Patch: ${JSON.stringify(patch.body)}\n`)
          const object = await session.client.patch<KubernetesObject>(resource, key, patch, {
            fieldManager,
            fieldValidation: fieldValidation[validate],
            ...(subresource === undefined ? {} : { subresource }),
          })
          await (await printer()).print(resource, { verb: 'edited', object })
        },
        skip: async ({ resource, object }) => (await printer()).print(resource, { verb: 'skipped', object }),
        goesOn: true,
      })
    },
    refusalOfTargets(args, flags),
  )
}

/** Throws a CliError, in kubectl's words, where an object was made another one. */
function requireSameObject(before: KubernetesObject, after: KubernetesObject): void {
  const isSame =
    before.apiVersion === after.apiVersion && before.kind === after.kind && before.metadata.name === after.metadata.name
  if (!isSame) throw new CliError('At least one of apiVersion, kind and name was changed')
}
