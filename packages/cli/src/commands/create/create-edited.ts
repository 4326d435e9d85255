import type { Host } from '../../host.ts'
import { loadManifests } from '../../manifests/load-manifests.ts'
import { OutcomePrinter } from '../../output/outcome-printer.ts'
import { serialize } from '../../output/serialize.ts'
import { withSession } from '../../session.ts'
import { checkEditorFlags, problemOfText, readEdited } from '../edit-objects.ts'
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
      await editText(host, {
        text: await serialize(object, format),
        format,
        windowsLineEndings: flags.windowsLineEndings === true,
        problemOf: problemOfText(host, flags.validate, { resource, object }),
        async save(text) {
          const edited = await readEdited(session, text)
          if ('head' in edited) return [edited]
          for (const each of edited) {
            const created = await createObject(session, each, flags)
            await printer.print(each.resource, { verb: 'created', object: created })
          }
          return []
        },
      })
    }
  })
}
