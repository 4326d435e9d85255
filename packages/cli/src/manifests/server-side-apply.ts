import type { KubernetesObject, Resource } from '@coracle/api'
import type { ApplyOptions, Client } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { reasonOf } from '../describe-error.ts'
import { lastAppliedAnnotation } from './apply-object.ts'
import { lastAppliedFieldManager, serverSideFieldManager } from './field-managers.ts'
import { ownsLastApplied, withMigratedOwners } from './migrate-owners.ts'

/** How often a change of owners is tried again after somebody else has changed the object. */
const migrationAttemptsMax = 6

/**
 * Lets the server merge what a file says. Fields of an object that was applied by a client before are handed over to who applies now, so
 * that what the file no longer has is taken away; where that fails `warn` is told, and the next apply tries again, as kubectl's does.
 * Where others own what the file would change, rejects with a CliError that says what can be done.
 */
export async function applyOnServer(
  client: Client,
  resource: Resource,
  wanted: KubernetesObject,
  options: ApplyOptions,
  warn: (warning: string) => void,
): Promise<KubernetesObject> {
  const applied = await client.apply(resource, wanted, options).catch((error: unknown) => {
    if (reasonOf(error) !== 'Conflict' || !(error instanceof Error)) throw error
    throw new CliError(`${error.message}\n${advice}`)
  })
  let latest = applied
  const attempt = async (failure: string, act: () => Promise<KubernetesObject | undefined>): Promise<boolean> => {
    try {
      const changed = await act()
      latest = changed ?? latest
      return changed !== undefined
    } catch (error) {
      const reason = error instanceof Error ? error.message : error
      warn(`Warning: ${failure}. This is non-fatal and will be retried next time you apply. Error: ${reason}\n`)
      return false
    }
  }
  const { [lastAppliedAnnotation]: lastApplied } = applied.metadata.annotations ?? {}
  let isKept = true
  if (lastApplied !== undefined && options.fieldManager === serverSideFieldManager) {
    await attempt(`failed to migrate ${lastAppliedAnnotation} for Server-Side Apply`, () =>
      keepLastApplied(client, resource, latest, lastApplied, options).catch((error: unknown) => {
        isKept = false
        throw error
      }),
    )
  }
  if (!isKept) return latest
  const isMigrated = await attempt('server rejected managed fields migration to Server-Side Apply', () =>
    migrate(client, resource, latest, options),
  )
  if (isMigrated) {
    await attempt('failed to re-apply configuration after performing Server-Side Apply migration', () =>
      client.apply(resource, wanted, options),
    )
  }
  return latest
}

/** Has an owner of its own for the annotation of what clients applied, so that it outlives those who own it now. */
async function keepLastApplied(
  client: Client,
  resource: Resource,
  { apiVersion, kind, metadata }: KubernetesObject,
  lastApplied: string,
  { dryRun = false }: ApplyOptions,
): Promise<KubernetesObject | undefined> {
  if ((metadata.managedFields ?? []).some((entry) => entry.operation === 'Apply' && ownsLastApplied(entry))) {
    return undefined
  }
  const { name, namespace } = metadata
  const annotations = { [lastAppliedAnnotation]: lastApplied }
  const only = { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }), annotations } }
  return client.apply(resource, only as KubernetesObject, { fieldManager: lastAppliedFieldManager, dryRun })
}

/** Hands the fields of clients that applied over to who applies now; undefined where there are none. */
async function migrate(
  client: Client,
  resource: Resource,
  object: KubernetesObject,
  { fieldManager = serverSideFieldManager, dryRun = false }: ApplyOptions,
): Promise<KubernetesObject | undefined> {
  const { name = '', namespace } = object.metadata
  const key = { name, ...(namespace === undefined ? {} : { namespace }) }
  let current = object
  for (let attempts = 1; ; attempts++) {
    const { managedFields = [], resourceVersion } = current.metadata
    const migrated = withMigratedOwners(managedFields, fieldManager)
    if (migrated === managedFields) return undefined
    const body = [
      { op: 'replace', path: '/metadata/managedFields', value: migrated },
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ]
    try {
      return await client.patch(resource, key, { type: 'json', body }, { fieldManager, dryRun })
    } catch (error) {
      if (reasonOf(error) !== 'Conflict' || attempts === migrationAttemptsMax) throw error
      current = await client.get(resource, key)
    }
  }
}

/** What can be done about a conflict, in kubectl's words. */
const advice = `Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the \`--force-conflicts\` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts`
