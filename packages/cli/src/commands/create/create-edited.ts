import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { loadManifests } from '../../manifests/load-manifests.ts'
import { parseManifests } from '../../manifests/parse-manifests.ts'
import { OutcomePrinter } from '../../output/outcome-printer.ts'
import { serialize } from '../../output/serialize.ts'
import { kindText } from '../../resources/object-text.ts'
import { withSession } from '../../session.ts'
import { checkEditorFlags } from '../edit-objects.ts'
import { editText } from '../edit-text.ts'
import { labelFilter, placeManifest } from '../manifest-command.ts'
import { type CreateFlags, createObject } from './create-object.ts'

/** `coracle create --edit -f FILE`: opens each object in the editor, and creates what is saved. One that is left as it was is not created. */
export async function createEdited(host: Host, flags: CreateFlags): Promise<void> {
  checkEditorFlags(flags.output)
  const printer = await OutcomePrinter.for(host, flags)
  const manifests = (await loadManifests(host, flags)).filter(labelFilter(flags.selector))
  const format = flags.output === 'json' ? 'json' : 'yaml'
  await withSession(host, flags, async (session) => {
    for (const manifest of manifests) {
      const { resource, object } = await placeManifest(session, manifest)
      const { name = '' } = object.metadata
      await editText(host, {
        name: name === '' ? resource.singular : name,
        subject: `${kindText(resource)} ${JSON.stringify(name)}`,
        text: await serialize(object, format),
        format,
        windowsLineEndings: flags.windowsLineEndings === true,
        async save(text) {
          const [edited, ...others] = parseManifests(text, 'the edited file')
          if (edited === undefined || others.length > 0) throw new CliError('the file must hold one object')
          const placed = await placeManifest(session, edited)
          await printer.print(placed.resource, { verb: 'created', object: await createObject(session, placed, flags) })
        },
      })
    }
  })
}
