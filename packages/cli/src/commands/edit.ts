import { deepEqual, type KubernetesObject } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { parseManifests } from '../manifests/parse-manifests.ts'
import { patchBetween } from '../manifests/patch-between.ts'
import { type OutcomeFlags, OutcomePrinter } from '../output/outcome-printer.ts'
import { serialize, withoutManagedFields } from '../output/serialize.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { editText } from './edit-text.ts'
import { findTargets, type Target, type TargetFlags } from './targets.ts'

export interface EditFlags extends ConnectionFlags, TargetFlags, OutcomeFlags {
  readonly subresource?: string
  readonly fieldManager?: string
}

/** `coracle edit TYPE NAME`: in the editor that KUBE_EDITOR or EDITOR names, or vi */
export async function edit(host: Host, args: readonly string[], flags: EditFlags): Promise<void> {
  const printer = await OutcomePrinter.for(host, { ...flags, dryRun: 'none' })
  await withSession(host, flags, async (session) => {
    const { found, errors } = await findTargets(host, session, args, 'edit', flags)
    if (errors.length > 0) throw new AggregateError(errors)
    for (const target of found) {
      const edited = await editOne(host, session, target, flags)
      if (edited === undefined) host.stderr.write('Edit cancelled, no changes made.\n')
      else await printer.print(target.resource, { verb: 'edited', object: edited })
    }
  })
}

/** Opens the object in the editor, and writes what is saved; undefined where nothing is. */
async function editOne(
  host: Host,
  session: Session,
  target: Target,
  flags: EditFlags,
): Promise<KubernetesObject | undefined> {
  return editText(host, {
    name: target.key.name,
    subject: `${target.resource.plural} "${target.key.name}"`,
    text: await serialize(withoutManagedFields(target.object as never), 'yaml'),
    save: (text) => save(session, target, text, flags),
  })
}

async function save(
  { client }: Session,
  { resource, key, object }: Target,
  text: string,
  { subresource, fieldManager = 'coracle-edit' }: EditFlags,
): Promise<KubernetesObject> {
  const [first, ...others] = parseManifests(text, 'the edited file')
  if (first === undefined || others.length > 0) throw new CliError('the file must hold one object')
  const edited = first.object
  const { name, namespace } = edited.metadata
  if (name !== key.name || namespace !== key.namespace || edited.kind !== object.kind) {
    throw new CliError('At least one of apiVersion, kind and name was changed: an object keeps these')
  }
  const before = withoutManagedFields(object as never) as unknown as KubernetesObject
  if (deepEqual(before, edited)) return object
  return client.patch(resource, key, patchBetween(resource, before, edited), {
    fieldManager,
    ...(subresource === undefined ? {} : { subresource }),
  })
}
