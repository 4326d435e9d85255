import { UsageError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { lastAppliedAnnotation } from '../../manifests/apply-object.ts'
import { serialize } from '../../output/serialize.ts'
import { type ConnectionFlags, withSession } from '../../session.ts'
import { findTargets, type TargetFlags } from '../targets.ts'

export interface ViewLastAppliedFlags extends ConnectionFlags, TargetFlags {
  readonly output: string
}

/** `coracle apply view-last-applied TYPE NAME`, `-f FILE` */
export async function viewLastApplied(host: Host, args: readonly string[], flags: ViewLastAppliedFlags): Promise<void> {
  const { output } = flags
  await withSession(host, flags, async (session) => {
    // As kubectl has it: who names a namespace means all that is in it.
    const typesMeanAll = session.givenNamespace !== undefined
    const { found, errors } = await findTargets(host, session, args, 'view', { ...flags, typesMeanAll })
    if (errors.length > 0) throw errors[0]
    // Of what was never applied there is nothing to show.
    const texts = found.flatMap(({ object }) => object.metadata.annotations?.[lastAppliedAnnotation] ?? [])
    for (const text of texts) {
      if (output !== 'json' && output !== 'yaml') {
        throw new UsageError(`Unexpected -o output mode: ${output}, the flag 'output' must be one of yaml|json`)
      }
      host.stdout.write(await shown(text, output))
    }
  })
}

/** As it stands in the annotation, with two spaces for each level. */
async function shown(text: string, format: 'json' | 'yaml'): Promise<string> {
  const value: unknown = JSON.parse(text)
  return format === 'yaml' ? serialize(value, 'yaml') : `${JSON.stringify(value, undefined, 2)}\n`
}
