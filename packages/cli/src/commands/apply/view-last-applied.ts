import { parseExactJson } from '@coracle/api'
import { CliError, UsageError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { lastAppliedAnnotation } from '../../manifests/apply-object.ts'
import { hasFiles, loadReadable } from '../../manifests/load-manifests.ts'
import { serialize } from '../../output/serialize.ts'
import { getNamed } from '../../resources/fetch.ts'
import { type ConnectionFlags, withSession } from '../../session.ts'
import { refusalOfTargets } from '../connection-refusals.ts'
import { labelFilter, type Placed, visitManifests } from '../manifest-command.ts'
import { findTargets, keyOf, type RefusedTarget, type Target, type TargetFlags } from '../targets.ts'

export interface ViewLastAppliedFlags extends ConnectionFlags, TargetFlags {
  readonly output: string
}

/** `coracle apply view-last-applied TYPE NAME`, `-f FILE` */
export async function viewLastApplied(host: Host, args: readonly string[], flags: ViewLastAppliedFlags): Promise<void> {
  const { output } = flags
  await withSession(
    host,
    flags,
    async (session) => {
      const texts: string[] = []
      const { all, selector } = flags
      if (all === true && selector !== undefined) {
        throw new CliError(
          `found non-empty label selector ${JSON.stringify(selector)} with previously set 'all' parameter.`,
        )
      }
      if (hasFiles(flags)) {
        const read = await loadReadable(host, flags, { args })
        const retrieve = async (placed: Placed): Promise<Placed> => {
          const key = keyOf(placed.object)
          // What has no name is nowhere but in the file.
          if (key.name === '') return placed
          return { ...placed, object: await getNamed(session.client, placed.resource, key, undefined) }
        }
        const view = async (placed: Placed) => {
          texts.push(...lastApplied({ ...placed, key: keyOf(placed.object) }))
        }
        await visitManifests(session, read, view, labelFilter(flags.selector), retrieve)
      } else {
        // As kubectl has it: who names a namespace means all that is in it.
        const typesMeanAll = session.givenNamespace !== undefined
        const selects = { ...flags, typesMeanAll, allSelects: true }
        const { found } = await findTargets(host, session, args, 'view', selects)
        for (const target of found) for (const text of lastApplied(target)) texts.push(text)
      }
      for (const text of texts) {
        if (output !== 'json' && output !== 'yaml') {
          throw new UsageError(`Unexpected -o output mode: ${output}, the flag 'output' must be one of yaml|json`)
        }
        host.stdout.write(await shown(text, output))
      }
    },
    refusalOfTargets(args, flags),
  )
}

/** What a target was last applied as. Of what never was there is nothing to show; where a file names it, that is told as kubectl tells it. */
function lastApplied(target: Target | RefusedTarget): readonly string[] {
  if ('refusal' in target) throw target.refusal
  const { object, key, source } = target
  const text = object.metadata.annotations?.[lastAppliedAnnotation]
  if (text !== undefined) return [text]
  if (source === undefined) return []
  throw new CliError(
    `error when no last-applied-configuration annotation found on resource: ${key.name}\n "${source}": <nil>`,
  )
}

/** As it stands in the annotation, with two spaces for each level. */
async function shown(text: string, format: 'json' | 'yaml'): Promise<string> {
  const value: unknown = parseExactJson(text)
  return format === 'yaml' ? serialize(value, 'yaml') : `${JSON.stringify(value, undefined, 2)}\n`
}
