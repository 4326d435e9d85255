import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deepEqual, type KubernetesObject } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import { describeError } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { parseManifests } from '../manifests/parse-manifests.ts'
import { patchBetween } from '../manifests/patch-between.ts'
import { type OutcomeFlags, OutcomePrinter } from '../output/outcome-printer.ts'
import { serialize, withoutManagedFields } from '../output/serialize.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { findTargets, type Target, type TargetFlags } from './targets.ts'

export interface EditFlags extends ConnectionFlags, TargetFlags, OutcomeFlags {
  readonly subresource?: string
}

const introduction = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`

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

/**
 * Opens the object in the editor until it is saved as the server takes it, or left as it was: then undefined. Rejects
 * with a CliError that names the file with the changes where those that were refused are left as they are.
 */
async function editOne(
  host: Host,
  session: Session,
  target: Target,
  { subresource }: EditFlags,
): Promise<KubernetesObject | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'coracle-edit-'))
  const path = join(directory, `${target.key.name.replaceAll('/', '_')}.yaml`)
  const original = await serialize(withoutManagedFields(target.object as never), 'yaml')
  let text = introduction + original
  for (;;) {
    await writeFile(path, text, { mode: 0o600 })
    await runEditor(host, path)
    const saved = await readFile(path, 'utf8')
    if (withoutComments(saved) === withoutComments(text)) {
      if (text === introduction + original) break
      throw new CliError(`Edit cancelled, no valid changes were saved: your changes are in ${path}`)
    }
    if (withoutComments(saved).trim() === '' || withoutComments(saved) === withoutComments(original)) break
    try {
      const written = await save(session, target, saved, subresource)
      await rm(directory, { recursive: true, force: true })
      return written
    } catch (error) {
      const problems = describeError(error).split('\n')
      const where = `${target.resource.plural} "${target.key.name}" was not valid:`
      const told = [where, ...problems.map((each) => `* ${each}`)].map((line) => `# ${line}\n`).join('')
      text = `${introduction}${told}#\n${withoutComments(saved)}`
    }
  }
  await rm(directory, { recursive: true, force: true })
  return undefined
}

const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')

async function runEditor({ runProgram, variables }: Host, path: string): Promise<void> {
  const editor = variables.KUBE_EDITOR || variables.EDITOR || 'vi'
  // The variable may hold arguments too, as in `code --wait`.
  const { code } = await runProgram('sh', ['-c', `${editor} "$1"`, 'sh', path], false)
  if (code !== 0) throw new CliError(`there was a problem with the editor ${JSON.stringify(editor)}: exit code ${code}`)
}

async function save(
  { client }: Session,
  { resource, key, object }: Target,
  text: string,
  subresource: string | undefined,
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
    fieldManager: 'coracle-edit',
    ...(subresource === undefined ? {} : { subresource }),
  })
}
