import { type KubernetesObject, parseExactJson } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { lastAppliedAnnotation } from '../../manifests/apply-object.ts'
import { applyFieldManager } from '../../manifests/field-managers.ts'
import { goJson } from '../../output/go-json.ts'
import { lazyPrinter } from '../../output/outcome-printer.ts'
import { withSession } from '../../session.ts'
import { refusalOfTargets } from '../connection-refusals.ts'
import type { EditFlags } from '../edit.ts'
import { editObjects } from '../edit-objects.ts'
import { fieldValidation } from '../manifest-command.ts'
import { findTargets, refuseWithTargets, requireAll } from '../targets.ts'

const introduction = `# Please edit the 'last-applied-configuration' annotations below.
# Lines beginning with a '#' will be ignored, and an empty file will abort the edit.
#
`

/** `coracle apply edit-last-applied TYPE NAME`: opens in the editor what objects were last applied as, and notes what is saved. */
export async function editLastApplied(host: Host, args: readonly string[], flags: EditFlags): Promise<void> {
  const { fieldManager = applyFieldManager, validate } = flags
  await withSession(
    host,
    flags,
    async (session) => {
      const refusal = flags.lateRefusals?.validate
      if (refusal !== undefined) await refuseWithTargets(host, session, args, flags, refusal)
      const found = requireAll(await findTargets(host, session, args, 'edit', { ...flags, typesMeanAll: true }))
      const noted = found.flatMap(({ resource, object }) => {
        const text = object.metadata.annotations?.[lastAppliedAnnotation]
        return text === undefined ? [] : [{ resource, object: parseExactJson(text) as KubernetesObject }]
      })
      if (noted.length === 0) {
        throw new CliError(
          'no last-applied-configuration annotation found on resources, to create the annotation, use command `coracle apply set-last-applied --create-annotation`',
        )
      }
      const printer = lazyPrinter(host, { ...flags, dryRun: 'none' })
      await editObjects(host, session, noted, flags, {
        introduction,
        async save(_target, _before, { resource, object }) {
          const annotation = `${goJson(object)}\n`
          const body = { metadata: { annotations: { [lastAppliedAnnotation]: annotation } } }
          const options = { fieldManager, fieldValidation: fieldValidation[validate] }
          const key = {
            name: object.metadata.name ?? '',
            ...(resource.namespaced ? { namespace: session.namespace } : {}),
          }
          await session.client.patch<KubernetesObject>(resource, key, { type: 'merge', body }, options)
          await (await printer()).print(resource, { verb: 'edited', object })
        },
        skip: async ({ resource, object }) => (await printer()).print(resource, { verb: 'skipped', object }),
        goesOn: false,
      })
    },
    refusalOfTargets(args, flags),
  )
}
