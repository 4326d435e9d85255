import { parseDuration } from '@coracle/environment'
import type { Host } from '../host.ts'
import { loadManifests } from '../manifests/load-manifests.ts'
import { OutcomePrinter } from '../output/outcome-printer.ts'
import { kindText, objectText } from '../resources/object-text.ts'
import { withSession } from '../session.ts'
import { waitUntilGone } from './await-deletion.ts'
import { labelFilter, type Placed, placeManifest } from './manifest-command.ts'
import { createAnew, deleteExisting } from './recreate.ts'
import { type ReplaceFlags, replaceFieldManager, replacementOf } from './replacement.ts'
import { keyOf } from './targets.ts'

/** How long to wait until the former objects are gone, where nothing is said. */
const timeoutDefault = '5m'

/**
 * `coracle replace --force`: deletes all objects that the files name, waits until they are gone, and creates them anew.
 * Nothing is created where one cannot be deleted.
 */
export async function replaceByForce(host: Host, flags: ReplaceFlags): Promise<void> {
  const printer = await OutcomePrinter.for(host, flags)
  const manifests = (await loadManifests(host, flags)).filter(labelFilter(flags.selector))
  // Zero would take away what may still run: that is for `delete --force`.
  const gracePeriod = flags.gracePeriod === 0 ? 1 : flags.gracePeriod
  await withSession(host, flags, async (session) => {
    const replacements: Placed[] = []
    const doomed: Placed[] = []
    await forEach(manifests, async (manifest) => {
      const replacement = replacementOf(await placeManifest(session, manifest), flags)
      replacements.push(replacement)
      if (!(await deleteExisting(session, replacement, { ...flags, gracePeriod }))) return
      doomed.push(replacement)
      host.stdout.write(deletedLine(replacement, flags))
    })
    const timeoutMs = parseDuration(flags.timeout === '0s' ? timeoutDefault : flags.timeout)
    const awaited = doomed.map(({ resource, object }) => ({ resource, key: keyOf(object), uid: undefined }))
    await waitUntilGone(host, session, awaited, timeoutMs)
    await forEach(replacements, async (replacement) => {
      const { fieldManager = replaceFieldManager } = flags
      const object = await createAnew(session, replacement, { ...flags, fieldManager })
      await printer.print(replacement.resource, { verb: 'replaced', object })
    })
  })
}

/** Does something with each, whatever became of others; rejects with all failures in the end. */
async function forEach<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const errors: unknown[] = []
  for (const item of items) await act(item).catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw new AggregateError(errors)
}

function deletedLine({ resource, object: { metadata } }: Placed, { output }: ReplaceFlags): string {
  const { name = '', namespace } = metadata
  if (output === 'name') return `${objectText(resource, name)}\n`
  const place = namespace === undefined ? '' : ` from ${namespace} namespace`
  return `${kindText(resource)} "${name}" deleted${place}\n`
}
