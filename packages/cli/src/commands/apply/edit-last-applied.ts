import { type KubernetesObject, sortKeys } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { lastAppliedAnnotation } from '../../manifests/apply-object.ts'
import { parseManifests } from '../../manifests/parse-manifests.ts'
import { OutcomePrinter } from '../../output/outcome-printer.ts'
import { serialize } from '../../output/serialize.ts'
import { withSession } from '../../session.ts'
import type { EditFlags } from '../edit.ts'
import { editText } from '../edit-text.ts'
import { findTargets } from '../targets.ts'

/** `coracle apply edit-last-applied TYPE NAME`: opens in the editor what the object was last applied as, and notes what is saved. */
export async function editLastApplied(host: Host, args: readonly string[], flags: EditFlags): Promise<void> {
  const printer = await OutcomePrinter.for(host, { ...flags, dryRun: 'none' })
  await withSession(host, flags, async (session) => {
    const { found, errors } = await findTargets(host, session, args, 'edit', flags)
    if (errors.length > 0) throw new AggregateError(errors)
    for (const { resource, key, object } of found) {
      const noted = object.metadata.annotations?.[lastAppliedAnnotation]
      if (noted === undefined) {
        throw new CliError(`no last-applied-configuration annotation found on ${resource.plural} ${key.name}`)
      }
      const edited = await editText(host, {
        name: key.name,
        subject: `${resource.plural} "${key.name}"`,
        text: await serialize(JSON.parse(noted), 'yaml'),
        save: (text) => {
          const patch = { metadata: { annotations: { [lastAppliedAnnotation]: annotationOf(text, object) } } }
          const options = { fieldManager: 'coracle-edit' }
          return session.client.patch<KubernetesObject>(resource, key, { type: 'merge', body: patch }, options)
        },
      })
      if (edited === undefined) host.stderr.write('Edit cancelled, no changes made.\n')
      else await printer.print(resource, { verb: 'edited', object: edited })
    }
  })
}

/** The object of an edited file as the annotation has it. Throws a CliError where it is another. */
function annotationOf(text: string, { kind, metadata }: KubernetesObject): string {
  const [first, ...others] = parseManifests(text, 'the edited file')
  if (first === undefined || others.length > 0) throw new CliError('the file must hold one object')
  if (first.object.kind !== kind || first.object.metadata.name !== metadata.name) {
    throw new CliError('At least one of apiVersion, kind and name was changed: an object keeps these')
  }
  return `${JSON.stringify(sortKeys(first.object))}\n`
}
