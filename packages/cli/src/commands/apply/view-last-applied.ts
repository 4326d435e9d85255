import { UsageError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { lastAppliedAnnotation } from '../../manifests/apply-object.ts'
import { loadManifests } from '../../manifests/load-manifests.ts'
import { serialize } from '../../output/serialize.ts'
import { selectObjects } from '../../resources/select-objects.ts'
import { type ConnectionFlags, withSession } from '../../session.ts'
import { selectManifests } from '../manifest-command.ts'
import { objectsOf, type TargetFlags } from '../targets.ts'

export interface ViewLastAppliedFlags extends ConnectionFlags, TargetFlags {
  readonly output: string
}

/** `coracle apply view-last-applied TYPE NAME`, `-f FILE` */
export async function viewLastApplied(host: Host, args: readonly string[], flags: ViewLastAppliedFlags): Promise<void> {
  const { output } = flags
  await withSession(host, flags, async (session) => {
    const manifests = await loadManifests(host, flags)
    const selections =
      manifests.length > 0
        ? await selectManifests(session, manifests, args)
        : selectObjects(args, 'view', await session.catalog(), flags)
    const texts: string[] = []
    for (const selection of selections) {
      for (const { object } of await objectsOf(session, selection, flags)) {
        const text = object.metadata.annotations?.[lastAppliedAnnotation]
        // Of what was never applied there is nothing to show.
        if (text !== undefined) texts.push(text)
      }
    }
    if (output !== 'json' && output !== 'yaml') {
      throw new UsageError(`Unexpected -o output mode: ${output}, the flag 'output' must be one of yaml|json`)
    }
    for (const text of texts) host.stdout.write(await shown(text, output))
  })
}

/** As it stands in the annotation, with two spaces for each level. */
async function shown(text: string, format: 'json' | 'yaml'): Promise<string> {
  const value: unknown = JSON.parse(text)
  return format === 'yaml' ? serialize(value, 'yaml') : `${JSON.stringify(value, undefined, 2)}\n`
}
