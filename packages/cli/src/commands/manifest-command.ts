import type { KubernetesObject } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { describeError, whileDoing } from '../describe-error.ts'
import type { Host } from '../host.ts'
import { loadManifests, type ManifestFlags } from '../manifests/load-manifests.ts'
import type { Manifest } from '../manifests/parse-manifests.ts'
import { placeObject } from '../manifests/place-object.ts'
import { serialize, withoutManagedFields } from '../output/serialize.ts'
import { objectText } from '../resources/object-text.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'

export interface ManifestCommandFlags extends ConnectionFlags, ManifestFlags {
  readonly validate: 'strict' | 'warn' | 'ignore'
  readonly dryRun: 'none' | 'client' | 'server'
  readonly output?: 'name' | 'json' | 'yaml'
}

/** An object of a manifest, and where it goes. */
export interface Placed {
  readonly resource: DiscoveredResource
  readonly object: KubernetesObject
  readonly source: string
}

export interface Outcome {
  /** What was done, such as `created`. */
  readonly verb: string
  readonly object: KubernetesObject
}

/**
 * Does something with each object of some files, in their order, and prints what came of it. What fails is reported and
 * the others still done; rejects with all failures in the end.
 */
export async function forEachManifest(
  host: Host,
  flags: ManifestCommandFlags,
  doing: string,
  act: (session: Session, placed: Placed) => Promise<Outcome>,
): Promise<void> {
  const manifests = await loadManifests(host, flags)
  await withSession(host, flags, async (session) => {
    const errors: unknown[] = []
    for (const manifest of manifests) {
      try {
        const placed = await placeManifest(session, manifest)
        const outcome = await act(session, placed).catch((error: unknown) => {
          throw whileDoing(`error when ${doing} "${manifest.source}"`, error)
        })
        await printOutcome(host, flags, placed.resource, outcome)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map(describeError).join('\n'))
  })
}

/** Finds the resource of a manifest's kind. Rejects with a CliError where the server has no such kind. */
export async function placeManifest(session: Session, { object, source }: Manifest): Promise<Placed> {
  const catalog = await session.catalog()
  const { apiVersion, kind, metadata } = object
  const resource = catalog.ofKind(apiVersion, kind)
  if (resource === undefined) {
    throw new CliError(
      `resource mapping not found for name: "${metadata.name ?? ''}" namespace: "${metadata.namespace ?? ''}" from "${source}": no matches for kind "${kind}" in version "${apiVersion}"\nensure CRDs are installed first`,
    )
  }
  return { resource, object: placeObject(object, resource, session), source }
}

/** The API's words for `--validate`. */
export const fieldValidation = { strict: 'Strict', warn: 'Warn', ignore: 'Ignore' } as const

async function printOutcome(
  host: Host,
  { output, dryRun }: ManifestCommandFlags,
  resource: DiscoveredResource,
  { verb, object }: Outcome,
): Promise<void> {
  const name = objectText(resource, object.metadata.name ?? object.metadata.generateName ?? '')
  if (output === 'json' || output === 'yaml') {
    host.stdout.write(await serialize(withoutManagedFields(object as unknown as Record<string, unknown>), output))
  } else if (output === 'name') host.stdout.write(`${name}\n`)
  else host.stdout.write(`${name} ${verb}${dryRunText[dryRun]}\n`)
}

/** What follows the verb in messages. */
export const dryRunText = { none: '', client: ' (dry run)', server: ' (server dry run)' } as const
