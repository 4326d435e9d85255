import { hasReason, type KubernetesObject } from '@coracle/api'
import { isUnreachableServer } from '@coracle/client'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { lastAppliedAnnotation, whileRetrieving } from '../../manifests/apply-object.ts'
import { plainFieldManager } from '../../manifests/field-managers.ts'
import { hasFiles, loadReadable, type ManifestFlags } from '../../manifests/load-manifests.ts'
import { goJson } from '../../output/go-json.ts'
import { type OutcomeFlags, OutcomePrinter } from '../../output/outcome-printer.ts'
import { getNamed } from '../../resources/fetch.ts'
import { nothingNamed } from '../../resources/select-objects.ts'
import { type ConnectionFlags, type Session, withSession } from '../../session.ts'
import { type Placed, visitManifests } from '../manifest-command.ts'
import { keyOf } from '../targets.ts'

export interface SetLastAppliedFlags extends ConnectionFlags, ManifestFlags, OutcomeFlags {
  readonly createAnnotation?: boolean
}

/** `coracle apply set-last-applied -f FILE`: notes the file as what was last applied, and changes nothing else. */
export async function setLastApplied(host: Host, flags: SetLastAppliedFlags): Promise<void> {
  if (!hasFiles(flags)) throw new CliError(nothingNamed)
  const printer = await OutcomePrinter.for(host, flags)
  const read = await loadReadable(host, flags)
  await withSession(host, flags, async (session) => {
    const { client } = session
    const changes: { readonly target: Placed; readonly text: string; readonly current: KubernetesObject }[] = []
    await visitManifests(session, read, async (target) => {
      const { resource, object, source } = target
      const { name = '' } = object.metadata
      const current = await currentOf(client, { resource, object, source })
      const noted = current.metadata.annotations?.[lastAppliedAnnotation]
      if (noted === undefined && flags.createAnnotation !== true) {
        throw new CliError(
          `no last-applied-configuration annotation found on resource: ${name}, to create the annotation, run the command with --create-annotation`,
        )
      }
      const text = textOf(object)
      if (noted === text) host.stdout.write(`set-last-applied ${name}: no changes required.\n`)
      else changes.push({ target, text, current })
    })
    for (const { target, text, current } of changes) {
      const patch = { type: 'merge', body: { metadata: { annotations: { [lastAppliedAnnotation]: text } } } } as const
      const object =
        flags.dryRun === 'client'
          ? current
          : await client.patch(target.resource, keyOf(target.object), patch, {
              fieldManager: plainFieldManager,
              dryRun: flags.dryRun === 'server',
            })
      await printer.print(target.resource, { verb: 'configured', object })
    }
  })
}

async function currentOf(client: Session['client'], { resource, object, source }: Placed): Promise<KubernetesObject> {
  const key = keyOf(object)
  try {
    return await getNamed(client, resource, key, undefined)
  } catch (error) {
    const isPlain = hasReason(error, 'NotFound') || isUnreachableServer(error)
    throw isPlain ? error : whileRetrieving(resource, key, source, error)
  }
}

/** An object as the annotation has it. */
function textOf(object: KubernetesObject): string {
  const { annotations = {}, ...metadata } = object.metadata
  const { [lastAppliedAnnotation]: _, ...others } = annotations
  const kept = Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others }
  return `${goJson({ ...object, metadata: kept })}\n`
}
